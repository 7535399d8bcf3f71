#include "tests/unit/codegen/native.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/eval/eval.h"
#include "passes/codegen.h"
#include "passes/pass.h"
#include "runtime/program.h"
#include "tests/support/program_text.h"

typedef struct native_t {
  tspec_arena_t arena;
  tspec_arena_t scratch;
  tspec_sources_t sources;
  tspec_diag_t diag;
  tspec_program_t *local;
  tspec_program_t *planned;
  tspec_dense_t **inputs;
  tspec_dense_t **wholes; ///< results put together from all ranks' blocks; NULL: not wanted
  const native_check_t *check;
  const char *text;
} native_t;

static void start(native_t *n, const char *text) {
  tspec_arena_init(&n->arena);
  tspec_arena_init(&n->scratch);
  tspec_sources_init(&n->sources, &n->arena);
  tspec_diag_init(&n->diag, &n->sources, stderr);
  n->text = text;
  n->local = tspec_text_program(&n->arena, &n->diag, text);
  cr_assert(n->local != NULL, "%s", text);
  n->planned = tspec_program_clone(n->local, &n->arena);
  tspec_options_t options = {.cpu = "native"};
  tspec_pass_run_t run = {.name = "fuse",
                          .program = n->planned,
                          .scratch = &n->scratch,
                          .diag = &n->diag,
                          .options = &options};
  cr_assert(tspec_pass_fuse(&run), "%s", text);
  cr_assert(tspec_program_verify(n->planned, "fuse", &n->diag), "%s", text);
  cr_assert(tspec_pass_plan_memory(&run), "%s", text);
}

static void finish(native_t *n) {
  const tspec_func_t *func = n->local->funcs[0];
  for (int i = 0; n->inputs != NULL && i < func->nargs; ++i) {
    tspec_dense_destroy(n->inputs[i]);
  }
  for (int i = 0; n->wholes != NULL && i < func->nresults; ++i) {
    tspec_dense_destroy(n->wholes[i]);
  }
  tspec_arena_deinit(&n->arena);
  tspec_arena_deinit(&n->scratch);
}

int native_count(const char *text, const char *op) {
  native_t n = {0};
  start(&n, text);
  int count = 0;
  for (const tspec_op_t *at = n.planned->funcs[0]->first; at != NULL; at = at->next) {
    count += strcmp(tspec_op_info(at->kind)->name, op) == 0;
  }
  finish(&n);
  return count;
}

int64_t native_arena_bytes(const char *text) {
  native_t n = {0};
  start(&n, text);
  int64_t bytes = n.planned->funcs[0]->arena_bytes;
  finish(&n);
  return bytes;
}

// ---- inputs ------------------------------------------------------------------------------------

static uint64_t next(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * UINT64_C(2685821657736338717);
}

static double special(uint64_t random, tspec_dtype_t dtype) {
  double largest = dtype == TSPEC_DTYPE_F16 ? 65504 : dtype == TSPEC_DTYPE_F64 ? 1e308 : 3e38;
  const double numbers[] = {
      0,    -0.0,    1,        -1,   2,   (double)NAN, (double)INFINITY, -(double)INFINITY, .5, 2.5,
      -3.5, largest, -largest, 1e-7, 3e9, -5e18};
  return numbers[random % 16];
}

static void fill(tspec_dense_t *dense, uint64_t *state, bool specials) {
  tspec_dtype_t dtype = dense->type.dtype;
  for (int64_t i = 0; i < dense->count; ++i) {
    uint64_t random = next(state);
    bool is_special = specials && random % 4 == 0;
    random >>= 8;
    if (dtype == TSPEC_DTYPE_BOOL) {
      tspec_dense_set_int(dense, i, (int64_t)(random & 1));
    } else if (tspec_dtype_is_float(dtype)) {
      double number = ((double)(random % 8001) - 4000) / 1000;
      tspec_dense_set_float(dense, i, is_special ? special(random, dtype) : number);
    } else if (is_special) {
      static const int64_t numbers[] = {0,         1,         -1,        INT64_MIN, INT64_MAX,
                                        INT32_MIN, INT32_MAX, INT16_MIN, -128,      127};
      tspec_dense_set_int(dense, i, numbers[random % 10]);
    } else {
      tspec_dense_set_int(dense, i,
                          random % 2 == 0 ? (int64_t)(random % 19) - 9 : (int64_t)next(state));
    }
  }
}

static void make_inputs(native_t *n) {
  const tspec_func_t *func = n->local->funcs[0];
  uint64_t state = n->check->seed * 2 + 1;
  n->inputs = TSPEC_ARENA_NEW(&n->arena, tspec_dense_t *, func->nargs);
  for (int i = 0; i < func->nargs; ++i) {
    tspec_type_t type = func->args[i].value->type;
    n->inputs[i] = tspec_dense_create(type.dtype, type.rank, type.dims);
    fill(n->inputs[i], &state, n->check->specials);
  }
}

// ---- native code -------------------------------------------------------------------------------

static const tspec_compiled_t *compile(native_t *n, void **out_handle) {
  char folder[] = "/tmp/tspec-native-XXXXXX";
  cr_assert(mkdtemp(folder) != NULL);
  const char *object = tspec_arena_printf(&n->arena, "%s/program.o", folder);
  const char *library = tspec_arena_printf(&n->arena, "%s/program.so", folder);
  tspec_codegen_t options = {
      .cpu = n->check->cpu, .emit = TSPEC_EMIT_OBJ, .output = object, .compiler = "test"};
  cr_assert(tspec_codegen_run(n->planned, &options, &n->diag), "%s", n->text);
  const char *command = tspec_arena_printf(&n->arena, "cc -shared -o %s %s -lm", library, object);
  cr_assert(system(command) == 0);
  *out_handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  cr_assert(*out_handle != NULL, "%s", dlerror());
  (void)unlink(object);
  (void)unlink(library);
  (void)rmdir(folder);
  return dlsym(*out_handle, tspec_arena_printf(&n->arena, "tspec_program_%s", n->planned->name));
}

// Ranges are run in three parts, as threads would.
static void run_steps(native_t *n, const tspec_rt_entry_t *entry) {
  for (int i = 0; i < entry->nsteps; ++i) {
    const tspec_rt_step_t *step = &entry->steps[i];
    if (step->image->kind == TSPEC_IMAGE_KERNEL) {
      int64_t cuts[] = {0, step->range / 3, step->range * 2 / 3, step->range};
      for (int part = 0; part < 3; ++part) {
        if (cuts[part] < cuts[part + 1]) {
          step->kernel(step->pointers, step->args, cuts[part], cuts[part + 1]);
        }
      }
    } else if (step->gemm_is_zero) {
      memset(step->pointers[2], 0, (size_t)step->buffers[2]->tensor->bytes);
    } else if (!step->gemm_is_empty) {
      cr_assert(step->image->kind == TSPEC_IMAGE_GEMM, "%s", n->text);
      cr_assert(
          tspec_gemm_run(&step->gemm, step->pointers[0], step->pointers[1], step->pointers[2]));
    }
  }
}

static void set_inputs(native_t *n, const tspec_rt_entry_t *entry, int64_t rank) {
  const tspec_func_t *func = n->local->funcs[0];
  for (int i = 0; i < func->nargs; ++i) {
    const tspec_value_t *value = func->args[i].value;
    tspec_block_t blocks[8];
    tspec_sharding_blocks(&n->local->mesh, value->sharding, value->type, rank, blocks);
    tspec_dense_t *part = tspec_dense_cut(n->inputs[i], blocks);
    size_t bytes = (size_t)(part->count * tspec_dtype_bytes(value->type.dtype));
    cr_assert(entry->inputs[i].buffer->tensor->bytes == (int64_t)bytes, "%s", n->text);
    memcpy(entry->inputs[i].buffer->memory, part->data, bytes);
    tspec_dense_destroy(part);
  }
}

// ---- comparing ---------------------------------------------------------------------------------

static bool same_element(const native_t *n, const tspec_dense_t *wanted, const tspec_dense_t *got,
                         int64_t i) {
  if (!tspec_dtype_is_float(wanted->type.dtype)) {
    return tspec_dense_get_int(wanted, i) == tspec_dense_get_int(got, i);
  }
  double a = tspec_dense_get_float(wanted, i), b = tspec_dense_get_float(got, i);
  if (isnan(a) || isnan(b)) {
    return isnan(a) && isnan(b);
  }
  if (n->check->tolerance == 0 || isinf(a) || isinf(b)) {
    return a == b && signbit(a) == signbit(b);
  }
  return fabs(a - b) <= n->check->tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

static void compare(native_t *n, const tspec_eval_t *eval, const tspec_rt_entry_t *entry,
                    int64_t rank) {
  const tspec_func_t *func = n->local->funcs[0];
  for (int i = 0; i < func->nresults; ++i) {
    const tspec_dense_t *wanted = tspec_eval_result_block(eval, i, rank);
    tspec_dense_t got = *wanted;
    got.data = entry->results[i].buffer->memory;
    for (int64_t k = 0; k < wanted->count; ++k) {
      if (!same_element(n, wanted, &got, k)) {
        cr_assert(false, "result '%s', rank %ld, element %ld: %.17g, wanted %.17g\n%s",
                  func->results[i].name, (long)rank, (long)k, tspec_dense_get(&got, k),
                  tspec_dense_get(wanted, k), n->text);
      }
    }
  }
}

// Puts a rank's blocks of the results into the whole ones.
static void collect(native_t *n, const tspec_rt_entry_t *entry, int64_t rank) {
  const tspec_func_t *func = n->local->funcs[0];
  for (int i = 0; i < func->nresults; ++i) {
    const tspec_value_t *value = func->results[i].value;
    tspec_block_t blocks[8];
    tspec_sharding_blocks(&n->local->mesh, value->sharding, value->type, rank, blocks);
    tspec_dense_t *part = tspec_dense_cut(n->wholes[i], blocks);
    memcpy(part->data, entry->results[i].buffer->memory,
           (size_t)entry->results[i].buffer->tensor->bytes);
    tspec_dense_paste(n->wholes[i], part, blocks);
    tspec_dense_destroy(part);
  }
}

// Compares with `eval`, or collects if that is NULL.
static void run_rank(native_t *n, const tspec_compiled_t *compiled, const tspec_eval_t *eval,
                     int64_t rank) {
  tspec_rt_program_t program = {0};
  tspec_rt_error_t error = {0};
  cr_assert(tspec_rt_program_init(&program, compiled, (int)rank, &error) == TSPEC_RT_OK);
  program.deterministic = eval == NULL;
  tspec_rt_entry_t *entry = &program.entries[0];
  cr_assert(tspec_rt_program_prepare(&program, NULL, entry, &error) == TSPEC_RT_OK, "%s\n%s",
            error.text, n->text);
  cr_assert(tspec_rt_memory_create(&program, &error) == TSPEC_RT_OK);
  set_inputs(n, entry, rank);
  run_steps(n, entry);
  if (eval != NULL) {
    compare(n, eval, entry, rank);
  } else {
    collect(n, entry, rank);
  }
  tspec_rt_memory_destroy(&program);
  tspec_rt_program_deinit(&program);
}

static void run_native(native_t *n, const tspec_eval_t *eval) {
  void *handle = NULL;
  const tspec_compiled_t *compiled = compile(n, &handle);
  tspec_rt_error_t error = {0};
  cr_assert(tspec_rt_image_check(compiled, &error) == TSPEC_RT_OK, "%s\n%s", error.text, n->text);
  for (int64_t rank = 0; rank < tspec_mesh_nranks(&n->local->mesh); ++rank) {
    run_rank(n, compiled, eval, rank);
  }
  (void)dlclose(handle);
}

void native_check(const char *text, const native_check_t *check) {
  native_t n = {.check = check};
  start(&n, text);
  make_inputs(&n);
  const tspec_func_t *func = n.local->funcs[0];
  tspec_eval_input_t *inputs = TSPEC_ARENA_NEW(&n.arena, tspec_eval_input_t, func->nargs);
  for (int i = 0; i < func->nargs; ++i) {
    inputs[i] = (tspec_eval_input_t){func->args[i].name, n.inputs[i]};
  }
  tspec_eval_t *eval = tspec_eval_create(n.local, &n.diag);
  cr_assert(eval != NULL && tspec_eval_run(eval, func->name, inputs, func->nargs), "%s", text);
  run_native(&n, eval);
  tspec_eval_destroy(eval);
  finish(&n);
}

static void start_collecting(native_t *n, const char *text, const native_check_t *check) {
  n->check = check;
  start(n, text);
  make_inputs(n);
  const tspec_func_t *func = n->local->funcs[0];
  n->wholes = TSPEC_ARENA_NEW(&n->arena, tspec_dense_t *, func->nresults);
  for (int i = 0; i < func->nresults; ++i) {
    tspec_type_t type = func->results[i].value->type;
    n->wholes[i] = tspec_dense_create(type.dtype, type.rank, type.dims);
  }
  run_native(n, NULL);
}

void native_same_bits(const char *text, const char *other, const native_check_t *check) {
  native_t a = {0}, b = {0};
  start_collecting(&a, text, check);
  start_collecting(&b, other, check);
  for (int i = 0; i < a.local->funcs[0]->nresults; ++i) {
    cr_assert(tspec_dense_equal(a.wholes[i], b.wholes[i]), "result '%s' of\n%sand\n%s",
              a.local->funcs[0]->results[i].name, text, other);
  }
  finish(&a);
  finish(&b);
}
