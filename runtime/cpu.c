// Does the processor have what the code was compiled for?
#include <stdio.h>
#include <string.h>

#include "runtime/launch.h"

// LLVM's name, gcc's name. What is missing here (caches, timers, virtualisation) is never used by
// generated code.
#define FEATURES(X)                                                                                \
  X("sse3", "sse3")                                                                                \
  X("ssse3", "ssse3")                                                                              \
  X("sse4.1", "sse4.1")                                                                            \
  X("sse4.2", "sse4.2")                                                                            \
  X("popcnt", "popcnt")                                                                            \
  X("avx", "avx")                                                                                  \
  X("avx2", "avx2")                                                                                \
  X("fma", "fma")                                                                                  \
  X("f16c", "f16c")                                                                                \
  X("bmi", "bmi")                                                                                  \
  X("bmi2", "bmi2")                                                                                \
  X("lzcnt", "lzcnt")                                                                              \
  X("movbe", "movbe")                                                                              \
  X("aes", "aes")                                                                                  \
  X("pclmul", "pclmul")                                                                            \
  X("gfni", "gfni")                                                                                \
  X("vpclmulqdq", "vpclmulqdq")                                                                    \
  X("vaes", "vaes")                                                                                \
  X("adx", "adx")                                                                                  \
  X("sha", "sha")                                                                                  \
  X("avx512f", "avx512f")                                                                          \
  X("avx512bw", "avx512bw")                                                                        \
  X("avx512cd", "avx512cd")                                                                        \
  X("avx512dq", "avx512dq")                                                                        \
  X("avx512vl", "avx512vl")                                                                        \
  X("avx512ifma", "avx512ifma")                                                                    \
  X("avx512vbmi", "avx512vbmi")                                                                    \
  X("avx512vbmi2", "avx512vbmi2")                                                                  \
  X("avx512vnni", "avx512vnni")                                                                    \
  X("avx512bitalg", "avx512bitalg")                                                                \
  X("avx512vpopcntdq", "avx512vpopcntdq")                                                          \
  X("avx512bf16", "avx512bf16")                                                                    \
  X("avx512fp16", "avx512fp16")                                                                    \
  X("avx512vp2intersect", "avx512vp2intersect")                                                    \
  X("avxvnni", "avxvnni")                                                                          \
  X("amx-tile", "amx-tile")                                                                        \
  X("amx-int8", "amx-int8")                                                                        \
  X("amx-bf16", "amx-bf16")                                                                        \
  X("fma4", "fma4")                                                                                \
  X("xop", "xop")

// A feature that is not in the list counts as there.
static bool has_feature(const char *name, size_t length) {
  const struct {
    const char *name;
    int present;
  } features[] = {
#if defined(__x86_64__)
#define FEATURE_ROW(llvm, gcc) {llvm, __builtin_cpu_supports(gcc)},
      FEATURES(FEATURE_ROW)
#undef FEATURE_ROW
#endif
          {"", 1},
  };
  for (size_t i = 0; i < sizeof features / sizeof features[0]; ++i) {
    if (strlen(features[i].name) == length && memcmp(features[i].name, name, length) == 0) {
      return features[i].present != 0;
    }
  }
  return true;
}

tspec_rt_status_t tspec_rt_cpu_check(const char *features, const char *cpu,
                                     tspec_rt_error_t *error) {
  char missing[256] = "";
  size_t at = 0;
  const char *name = features;
  while (*name != '\0') {
    size_t length = strcspn(name, ",");
    const char *bare = name + (*name == '+');
    size_t bare_length = length - (size_t)(*name == '+');
    if (*name != '-' && !has_feature(bare, bare_length) && at < sizeof missing) {
      at += (size_t)snprintf(missing + at, sizeof missing - at, "%s%.*s", at > 0 ? ", " : "",
                             (int)bare_length, bare);
    }
    name += length + (name[length] == ',');
  }
  if (at == 0) {
    return TSPEC_RT_OK;
  }
  return tspec_rt_fail(error, TSPEC_RT_CPU,
                       "this processor lacks %s, which the program was compiled for (--cpu=%s); "
                       "compile it for this one",
                       missing, cpu);
}
