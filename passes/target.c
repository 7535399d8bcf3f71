// Names of CPUs and what code for them may use.
#include "passes/target.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

#include "ir/base/str.h"

#define V2 "sse3,ssse3,sse4.1,sse4.2,popcnt"
#define V3 V2 ",avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe"
#define V4 V3 ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
#define ICELAKE                                                                                    \
  V4 ",avx512ifma,avx512vbmi,avx512vbmi2,avx512vnni,avx512bitalg,avx512vpopcntdq,gfni,vaes,"       \
     "vpclmulqdq"

typedef struct cpu_row_t {
  const char *name;
  const char *needed;
} cpu_row_t;

// The feature lists that the psABI (levels) and the vendors' manuals give, as far as code generated
// from loops uses them.
static const cpu_row_t cpu_rows[] = {
    {"x86-64", ""},
    {"x86-64-v2", V2},
    {"x86-64-v3", V3},
    {"x86-64-v4", V4},
    {"nehalem", V2},
    {"westmere", V2 ",aes,pclmul"},
    {"sandybridge", V2 ",aes,pclmul,avx"},
    {"ivybridge", V2 ",aes,pclmul,avx,f16c"},
    {"haswell", V3 ",aes,pclmul"},
    {"broadwell", V3 ",aes,pclmul,adx"},
    {"skylake", V3 ",aes,pclmul,adx"},
    {"alderlake", V3 ",aes,pclmul,adx,sha,gfni,vaes,vpclmulqdq,avxvnni"},
    {"skylake-avx512", V4 ",aes,pclmul,adx"},
    {"cascadelake", V4 ",aes,pclmul,adx,avx512vnni"},
    {"cooperlake", V4 ",aes,pclmul,adx,avx512vnni,avx512bf16"},
    {"icelake-client", ICELAKE ",aes,pclmul,adx,sha"},
    {"icelake-server", ICELAKE ",aes,pclmul,adx,sha"},
    {"sapphirerapids", ICELAKE ",aes,pclmul,adx,sha,avx512bf16,avx512fp16,avxvnni,amx-tile,"
                               "amx-int8,amx-bf16"},
    {"znver1", V3 ",aes,pclmul,adx,sha"},
    {"znver2", V3 ",aes,pclmul,adx,sha"},
    {"znver3", V3 ",aes,pclmul,adx,sha,vaes,vpclmulqdq"},
    {"znver4", ICELAKE ",aes,pclmul,adx,sha,avx512bf16"},
    {"znver5", ICELAKE ",aes,pclmul,adx,sha,avx512bf16,avx512vp2intersect,avxvnni"},
};

/// "+avx2,-avx512f,+fma" as "avx2,fma".
static const char *present_features(tspec_arena_t *arena, const char *features) {
  tspec_buf_t list = {0};
  while (*features != 0) {
    size_t length = strcspn(features, ",");
    if (*features == '+') {
      tspec_buf_printf(&list, "%s%.*s", list.length > 0 ? "," : "", (int)length - 1, features + 1);
    }
    features += length + (features[length] == ',');
  }
  const char *copy = tspec_arena_strdup(arena, tspec_buf_get(&list), list.length);
  tspec_buf_deinit(&list);
  return copy;
}

static const char *take_message(tspec_arena_t *arena, char *message) {
  const char *copy = tspec_arena_strdup(arena, message, strlen(message));
  LLVMDisposeMessage(message);
  return copy;
}

bool tspec_cpu_find(const char *cpu, tspec_arena_t *arena, tspec_cpu_t *out_cpu) {
  if (cpu == NULL || strcmp(cpu, "native") == 0) {
    out_cpu->name = take_message(arena, LLVMGetHostCPUName());
    out_cpu->features = take_message(arena, LLVMGetHostCPUFeatures());
    out_cpu->needed = present_features(arena, out_cpu->features);
    return true;
  }
  for (size_t i = 0; i < sizeof cpu_rows / sizeof *cpu_rows; i++) {
    if (strcmp(cpu_rows[i].name, cpu) == 0) {
      *out_cpu = (tspec_cpu_t){cpu_rows[i].name, "", cpu_rows[i].needed};
      return true;
    }
  }
  return false;
}

const char *tspec_cpu_names(tspec_arena_t *arena) {
  tspec_buf_t list = {0};
  tspec_buf_puts(&list, "native");
  for (size_t i = 0; i < sizeof cpu_rows / sizeof *cpu_rows; i++) {
    tspec_buf_printf(&list, ", %s", cpu_rows[i].name);
  }
  const char *copy = tspec_arena_strdup(arena, tspec_buf_get(&list), list.length);
  tspec_buf_deinit(&list);
  return copy;
}
