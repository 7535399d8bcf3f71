// Products by oneDNN's matmul primitive. The library is opened when the first product wants it;
// what it computes first for each element type is checked against a plain loop.
#include <dlfcn.h>
#include <math.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/gemm_impl.h"

#define FUNCTIONS(X)                                                                               \
  X(dnnl_engine_create)                                                                            \
  X(dnnl_stream_create)                                                                            \
  X(dnnl_stream_wait)                                                                              \
  X(dnnl_memory_desc_init_by_strides)                                                              \
  X(dnnl_matmul_desc_init)                                                                         \
  X(dnnl_primitive_desc_create)                                                                    \
  X(dnnl_primitive_desc_query)                                                                     \
  X(dnnl_primitive_desc_destroy)                                                                   \
  X(dnnl_primitive_create)                                                                         \
  X(dnnl_primitive_execute)                                                                        \
  X(dnnl_primitive_destroy)                                                                        \
  X(dnnl_memory_create)                                                                            \
  X(dnnl_memory_set_data_handle)                                                                   \
  X(dnnl_memory_destroy)

typedef enum state_t { UNKNOWN, GOOD, BAD } state_t;

/// One primitive for all products of the same shape.
struct tspec_gemm_dnnl_t {
  tspec_gemm_dnnl_t *next;
  int nusers;
  tspec_gemm_t key; ///< plain fields
  dnnl_primitive_t primitive;
  dnnl_memory_t memories[3]; ///< lhs, rhs, out
  char name[64];
};

// The library belongs to the process: it is opened once, used by the one thread that runs steps,
// and never closed, since its thread pool may still refer to it.
static struct library_t {
  state_t state;
  state_t checked[TSPEC_RT_DTYPE_COUNT]; ///< by type of the operands
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  tspec_gemm_dnnl_t *plans;
#define MEMBER(name) __typeof__(name) *name; // NOLINT(bugprone-macro-parentheses)
  FUNCTIONS(MEMBER)
#undef MEMBER
} lib;

static bool load_functions(void *handle) {
  // dlsym gives a data pointer; POSIX says that it holds a function's address.
#define LOAD(name)                                                                                 \
  *(void **)&lib.name = dlsym(handle, #name);                                                      \
  if (lib.name == NULL) {                                                                          \
    return false;                                                                                  \
  }
  FUNCTIONS(LOAD)
#undef LOAD
  return true;
}

static bool open_library(void) {
  if (lib.state != UNKNOWN) {
    return lib.state == GOOD;
  }
  lib.state = BAD;
  void *handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL || !load_functions(handle)) {
    return false;
  }
  // By default its pool takes every core, also those of other ranks.
  void (*set_threads)(int);
  *(void **)&set_threads = dlsym(handle, "omp_set_num_threads");
  if (set_threads != NULL) {
    set_threads(1);
  }
  if (lib.dnnl_engine_create(&lib.engine, dnnl_cpu, 0) == dnnl_success &&
      lib.dnnl_stream_create(&lib.stream, lib.engine, dnnl_stream_default_flags) == dnnl_success) {
    lib.state = GOOD;
  }
  return lib.state == GOOD;
}

static bool find_type(tspec_rt_dtype_t dtype, dnnl_data_type_t *out_type) {
  if (dtype != TSPEC_RT_F32 && dtype != TSPEC_RT_BF16) {
    return false;
  }
  *out_type = dtype == TSPEC_RT_F32 ? dnnl_f32 : dnnl_bf16;
  return true;
}

/// [batch][rows][columns], or with `transposed` lying as [batch][columns][rows].
static bool make_desc(const tspec_gemm_t *gemm, int64_t rows, int64_t columns, bool transposed,
                      dnnl_data_type_t type, dnnl_memory_desc_t *out_desc) {
  dnnl_dims_t dims = {gemm->batch, rows, columns};
  dnnl_dims_t strides = {rows * columns, transposed ? 1 : columns, transposed ? rows : 1};
  int skip = gemm->batch == 1;
  return lib.dnnl_memory_desc_init_by_strides(out_desc, 3 - skip, dims + skip, type,
                                              strides + skip) == dnnl_success;
}

static bool make_primitive(tspec_gemm_dnnl_t *plan, const dnnl_memory_desc_t descs[3]) {
  dnnl_matmul_desc_t desc;
  dnnl_primitive_desc_t primitive_desc;
  if (lib.dnnl_matmul_desc_init(&desc, &descs[0], &descs[1], NULL, &descs[2]) != dnnl_success ||
      lib.dnnl_primitive_desc_create(&primitive_desc, &desc, NULL, lib.engine, NULL) !=
          dnnl_success) {
    return false;
  }
  const char *name = NULL;
  if (lib.dnnl_primitive_desc_query(primitive_desc, dnnl_query_impl_info_str, 0, (void *)&name) ==
          dnnl_success &&
      name != NULL) {
    strncpy(plan->name, name, sizeof plan->name - 1);
  }
  bool ok = lib.dnnl_primitive_create(&plan->primitive, primitive_desc) == dnnl_success;
  lib.dnnl_primitive_desc_destroy(primitive_desc);
  for (int i = 0; ok && i < 3; ++i) {
    ok = lib.dnnl_memory_create(&plan->memories[i], &descs[i], lib.engine, DNNL_MEMORY_NONE) ==
         dnnl_success;
  }
  return ok;
}

static void free_plan(tspec_gemm_dnnl_t *plan) {
  for (int i = 0; i < 3; ++i) {
    if (plan->memories[i] != NULL) {
      lib.dnnl_memory_destroy(plan->memories[i]);
    }
  }
  if (plan->primitive != NULL) {
    lib.dnnl_primitive_destroy(plan->primitive);
  }
  free(plan);
}

static tspec_gemm_dnnl_t *make_plan(const tspec_gemm_t *gemm) {
  dnnl_data_type_t in, out;
  dnnl_memory_desc_t descs[3];
  if (!find_type(gemm->in, &in) || !find_type(gemm->out, &out) ||
      !make_desc(gemm, gemm->m, gemm->k, gemm->lhs_transposed, in, &descs[0]) ||
      !make_desc(gemm, gemm->k, gemm->n, gemm->rhs_transposed, in, &descs[1]) ||
      !make_desc(gemm, gemm->m, gemm->n, false, out, &descs[2])) {
    return NULL;
  }
  tspec_gemm_dnnl_t *plan = calloc(1, sizeof *plan);
  if (plan == NULL) {
    return NULL;
  }
  plan->key = *gemm;
  plan->nusers = 1;
  if (!make_primitive(plan, descs)) {
    free_plan(plan);
    return NULL;
  }
  return plan;
}

bool tspec_gemm_dnnl_run(tspec_gemm_dnnl_t *plan, const void *lhs, const void *rhs, void *out) {
  // The library takes sources without const and does not write to them.
  void *data[] = {(void *)(uintptr_t)lhs, (void *)(uintptr_t)rhs, out};
  const int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  dnnl_exec_arg_t args[3];
  for (int i = 0; i < 3; ++i) {
    if (lib.dnnl_memory_set_data_handle(plan->memories[i], data[i]) != dnnl_success) {
      return false;
    }
    args[i] = (dnnl_exec_arg_t){names[i], plan->memories[i]};
  }
  return lib.dnnl_primitive_execute(plan->primitive, lib.stream, 3, args) == dnnl_success &&
         lib.dnnl_stream_wait(lib.stream) == dnnl_success;
}

// ---- the check ---------------------------------------------------------------------------------

static double get(tspec_rt_dtype_t dtype, const void *data, int64_t index) {
  return dtype == TSPEC_RT_F32 ? (double)((const float *)data)[index]
                               : (double)tspec_rt_f32_from_bf16(((const uint16_t *)data)[index]);
}

/// A number of -1 .. 1 with few bits, so that it fits every float type.
static double sample(int64_t index) {
  return (double)((index * 37 + index / 7 * 11) % 65 - 32) / 32;
}

static bool is_right(const tspec_gemm_t *gemm, const void *lhs, const void *rhs, const void *out) {
  for (int64_t i = 0; i < gemm->m; ++i) {
    for (int64_t j = 0; j < gemm->n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < gemm->k; ++p) {
        int64_t a = gemm->lhs_transposed ? p * gemm->m + i : i * gemm->k + p;
        int64_t b = gemm->rhs_transposed ? j * gemm->k + p : p * gemm->n + j;
        sum += get(gemm->in, lhs, a) * get(gemm->in, rhs, b);
      }
      // Sums of such numbers are exact in f32; bf16 rounds them once.
      double allowed = gemm->out == TSPEC_RT_F32 ? 1e-5 : fabs(sum) / 128;
      if (!(fabs(get(gemm->out, out, i * gemm->n + j) - sum) <= allowed)) {
        return false;
      }
    }
  }
  return true;
}

static bool check_product(tspec_rt_dtype_t in, int64_t m, int64_t n, int64_t k, bool transposed) {
  tspec_gemm_t gemm = {.batch = 1,
                       .m = m,
                       .n = n,
                       .k = k,
                       .lhs_transposed = transposed,
                       .rhs_transposed = !transposed,
                       .in = in,
                       .out = TSPEC_RT_F32};
  size_t bytes = (size_t)tspec_rt_dtype_bytes(in);
  size_t nlhs = (size_t)(m * k), nrhs = (size_t)(k * n);
  char *lhs = calloc(nlhs, bytes), *rhs = calloc(nrhs, bytes);
  float *out = calloc((size_t)(m * n), sizeof *out);
  tspec_gemm_dnnl_t *plan = make_plan(&gemm);
  bool ok = lhs != NULL && rhs != NULL && out != NULL && plan != NULL;
  for (size_t i = 0; ok && i < nlhs; ++i) {
    tspec_rt_dtype_store(in, sample((int64_t)i), lhs + i * bytes);
  }
  for (size_t i = 0; ok && i < nrhs; ++i) {
    tspec_rt_dtype_store(in, sample((int64_t)i + 5), rhs + i * bytes);
  }
  ok = ok && tspec_gemm_dnnl_run(plan, lhs, rhs, out) && is_right(&gemm, lhs, rhs, out);
  if (plan != NULL) {
    free_plan(plan);
  }
  free(lhs);
  free(rhs);
  free(out);
  return ok;
}

// Odd sizes, which have gone wrong in libraries before.
static bool is_trusted(tspec_rt_dtype_t in) {
  if (lib.checked[in] == UNKNOWN) {
    bool ok = check_product(in, 37, 53, 71, false) && check_product(in, 8, 130, 65, true);
    lib.checked[in] = ok ? GOOD : BAD;
  }
  return lib.checked[in] == GOOD;
}

// ---- plans -------------------------------------------------------------------------------------

static bool same_product(const tspec_gemm_t *a, const tspec_gemm_t *b) {
  return a->batch == b->batch && a->m == b->m && a->n == b->n && a->k == b->k &&
         a->lhs_transposed == b->lhs_transposed && a->rhs_transposed == b->rhs_transposed &&
         a->in == b->in && a->out == b->out;
}

tspec_gemm_dnnl_t *tspec_gemm_dnnl_create(const tspec_gemm_t *gemm) {
  dnnl_data_type_t type;
  if (!find_type(gemm->in, &type) || !find_type(gemm->out, &type) || !open_library() ||
      !is_trusted(gemm->in)) {
    return NULL;
  }
  for (tspec_gemm_dnnl_t *plan = lib.plans; plan != NULL; plan = plan->next) {
    if (same_product(&plan->key, gemm)) {
      ++plan->nusers;
      return plan;
    }
  }
  tspec_gemm_dnnl_t *plan = make_plan(gemm);
  if (plan != NULL) {
    plan->next = lib.plans;
    lib.plans = plan;
  }
  return plan;
}

void tspec_gemm_dnnl_destroy(tspec_gemm_dnnl_t *plan) {
  if (plan == NULL || --plan->nusers > 0) {
    return;
  }
  tspec_gemm_dnnl_t **link = &lib.plans;
  while (*link != plan) {
    link = &(*link)->next;
  }
  *link = plan->next;
  free_plan(plan);
}

const char *tspec_gemm_dnnl_name(const tspec_gemm_dnnl_t *plan) {
  return plan->name;
}
