// Products as the runtime calls them, against oneDNN's matmul primitive with plain layouts called
// by itself: same process, same buffers, one thread.
#include <oneapi/dnnl/dnnl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/parts.h"
#include "runtime/gemm.h"

typedef struct product_t {
  int64_t m, n, k;
  float *lhs, *rhs, *out;
  tspec_gemm_t gemm;
  tspec_gemm_t builtin;
  dnnl_engine_t engine;
  dnnl_stream_t stream;
  dnnl_primitive_t primitive;
  dnnl_memory_t memories[3];
  dnnl_exec_arg_t args[3];
} product_t;

static bool good(dnnl_status_t status) {
  return status == dnnl_success;
}

static bool make_primitive(product_t *product) {
  dnnl_dims_t dims[] = {
      {product->m, product->k}, {product->k, product->n}, {product->m, product->n}};
  float *data[] = {product->lhs, product->rhs, product->out};
  static const int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
  dnnl_memory_desc_t descs[3];
  if (!good(dnnl_engine_create(&product->engine, dnnl_cpu, 0)) ||
      !good(dnnl_stream_create(&product->stream, product->engine, dnnl_stream_default_flags))) {
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    if (!good(dnnl_memory_desc_init_by_tag(&descs[i], 2, dims[i], dnnl_f32, dnnl_ab)) ||
        !good(dnnl_memory_create(&product->memories[i], &descs[i], product->engine, data[i]))) {
      return false;
    }
    product->args[i] = (dnnl_exec_arg_t){names[i], product->memories[i]};
  }
  dnnl_matmul_desc_t desc;
  dnnl_primitive_desc_t primitive_desc;
  if (!good(dnnl_matmul_desc_init(&desc, &descs[0], &descs[1], NULL, &descs[2])) ||
      !good(dnnl_primitive_desc_create(&primitive_desc, &desc, NULL, product->engine, NULL))) {
    return false;
  }
  bool ok = good(dnnl_primitive_create(&product->primitive, primitive_desc));
  (void)dnnl_primitive_desc_destroy(primitive_desc);
  return ok;
}

static bool make_product(product_t *product) {
  size_t bytes = (size_t)(product->m * product->k) * sizeof(float);
  product->lhs = aligned_alloc(64, bytes);
  product->rhs = aligned_alloc(64, (size_t)(product->k * product->n) * sizeof(float));
  product->out = aligned_alloc(64, (size_t)(product->m * product->n) * sizeof(float));
  if (product->lhs == NULL || product->rhs == NULL || product->out == NULL) {
    return false;
  }
  for (int64_t i = 0; i < product->m * product->k; ++i) {
    product->lhs[i] = (float)(i % 17 - 8) / 8;
  }
  for (int64_t i = 0; i < product->k * product->n; ++i) {
    product->rhs[i] = (float)(i % 13 - 6) / 8;
  }
  product->gemm = (tspec_gemm_t){.batch = 1,
                                 .m = product->m,
                                 .n = product->n,
                                 .k = product->k,
                                 .in = TSPEC_RT_F32,
                                 .out = TSPEC_RT_F32};
  product->builtin = product->gemm;
  product->builtin.deterministic = true;
  // Preparing first: it also sets the library's threads to one.
  return tspec_gemm_prepare(&product->gemm) && tspec_gemm_prepare(&product->builtin) &&
         make_primitive(product);
}

static void free_product(product_t *product) {
  tspec_gemm_release(&product->gemm);
  tspec_gemm_release(&product->builtin);
  (void)dnnl_primitive_destroy(product->primitive);
  for (int i = 0; i < 3; ++i) {
    (void)dnnl_memory_destroy(product->memories[i]);
  }
  (void)dnnl_stream_destroy(product->stream);
  (void)dnnl_engine_destroy(product->engine);
  free(product->lhs);
  free(product->rhs);
  free(product->out);
}

static void run_ours(void *user) {
  product_t *product = user;
  (void)tspec_gemm_run(&product->gemm, product->lhs, product->rhs, product->out);
}

static void run_builtin(void *user) {
  product_t *product = user;
  (void)tspec_gemm_run(&product->builtin, product->lhs, product->rhs, product->out);
}

static void run_library(void *user) {
  product_t *product = user;
  (void)dnnl_primitive_execute(product->primitive, product->stream, 3, product->args);
  (void)dnnl_stream_wait(product->stream);
}

void bench_products(bench_tally_t *tally) {
  static const int64_t sizes[][3] = {{64, 64, 64}, {512, 512, 512}, {4, 256, 1024}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    product_t product = {.m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2]};
    if (!make_product(&product)) {
      printf("  oneDNN has no such product\n");
      free_product(&product);
      continue;
    }
    double flops = 2 * (double)product.m * (double)product.n * (double)product.k;
    bench_pair_t ours = bench_compare(run_ours, run_library, &product);
    bench_pair_t builtin = bench_compare(run_builtin, run_library, &product);
    printf(
        "  [%lld, %lld] @ [%lld, %lld] f32: '%s' %.1f GFLOP/s, oneDNN alone %.1f: ratio %.3f, aim "
        ">= 0.95: %s; '%s' %.1f: %.3f\n",
        (long long)product.m, (long long)product.k, (long long)product.k, (long long)product.n,
        tspec_gemm_name(&product.gemm), flops / ours.a * 1e-9, flops / ours.b * 1e-9, ours.ratio,
        bench_tally_add(tally, ours.ratio >= 0.95), tspec_gemm_name(&product.builtin),
        flops / builtin.a * 1e-9, builtin.ratio);
    (void)fflush(stdout);
    free_product(&product);
  }
}
