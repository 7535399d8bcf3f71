// Random programs with random shardings on random meshes, sizes that do not divide: N ranks must
// compute what one does.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ir/base/str.h"
#include "ir/eval/check.h"
#include "support.h"

enum { MAX_VALUES = 64, ROUNDS = 400 };

typedef struct gen_t {
  bench_t bench;
  uint64_t state;
  tspec_mesh_axis_t axes[4];
  tspec_value_t *values[MAX_VALUES];
  int nvalues;
  int nnames;
  bool linear; // linear ops and pending sums only
} gen_t;

static int64_t draw(gen_t *gen, int64_t below) {
  gen->state = gen->state * 6364136223846793005u + 1442695040888963407u;
  return (int64_t)((gen->state >> 33) % (uint64_t)below);
}

static const char *draw_name(gen_t *gen, const char *prefix) {
  return tspec_arena_printf(&gen->bench.arena, "%s%d", prefix, gen->nnames++);
}

// "[a, -, b?]", each axis (or half of it) at most once, perhaps with pending axes.
static const char *draw_sharding(gen_t *gen, int rank, bool may_open, bool may_pend) {
  const tspec_mesh_t *mesh = &gen->bench.program->mesh;
  tspec_buf_t dims[4] = {0};
  tspec_buf_t pending = {0};
  for (int a = 0; a < mesh->naxes; a++) {
    int64_t where = draw(gen, rank + 2);
    const char *name = mesh->axes[a].name;
    bool half = mesh->axes[a].size == 4 && draw(gen, 4) == 0;
    const char *piece =
        half ? tspec_arena_printf(&gen->bench.arena, "%s:(%d)2", name, 1 + (int)draw(gen, 2))
             : name;
    if (where < rank) {
      tspec_buf_printf(&dims[where], "%s%s", dims[where].length > 0 ? "*" : "", piece);
    } else if (where >= rank && may_pend && (gen->linear || draw(gen, 4) == 0)) {
      tspec_buf_printf(&pending, "%s%s", pending.length > 0 ? ", " : "", piece);
    }
  }
  tspec_buf_t text = {0};
  tspec_buf_puts(&text, "[");
  for (int d = 0; d < rank; d++) {
    bool open = may_open && draw(gen, 3) == 0;
    bool empty = dims[d].length == 0;
    tspec_buf_printf(&text, "%s%s%s", d > 0 ? ", " : "",
                     empty && !open ? "-" : tspec_buf_get(&dims[d]), open ? "?" : "");
    tspec_buf_deinit(&dims[d]);
  }
  tspec_buf_puts(&text, "]");
  if (pending.length > 0) {
    static const char *const kinds[] = {"sum", "max", "min"};
    tspec_buf_printf(&text, " %s(%s)", kinds[gen->linear ? 0 : draw(gen, 3)],
                     tspec_buf_get(&pending));
  }
  const char *copy = tspec_arena_strdup(&gen->bench.arena, text.text, text.length);
  tspec_buf_deinit(&text);
  tspec_buf_deinit(&pending);
  return copy;
}

static tspec_value_t *pick(gen_t *gen, int rank) {
  int begin = (int)draw(gen, gen->nvalues);
  for (int i = 0; i < gen->nvalues; i++) {
    tspec_value_t *value = gen->values[(begin + i) % gen->nvalues];
    if ((rank < 0 || value->type.rank == rank) && value->type.rank > 0) {
      return value;
    }
  }
  return NULL;
}

static tspec_value_t *pick_like(gen_t *gen, const tspec_value_t *like) {
  int begin = (int)draw(gen, gen->nvalues);
  for (int i = 0; i < gen->nvalues; i++) {
    tspec_value_t *value = gen->values[(begin + i) % gen->nvalues];
    if (tspec_type_equal(value->type, like->type)) {
      return value;
    }
  }
  return NULL;
}

static tspec_value_t *make_reshape(gen_t *gen, tspec_value_t *x) {
  int64_t shape[4];
  int rank = 0;
  int64_t elems = tspec_type_elems(x->type);
  static const int64_t factors[] = {2, 3, 4, 5, 6, 7};
  while (rank < 2 && elems > 1) {
    int64_t factor = factors[draw(gen, 6)];
    if (elems % factor == 0) {
      shape[rank++] = factor;
      elems /= factor;
    } else if (draw(gen, 3) == 0) {
      break;
    }
  }
  shape[rank++] = elems;
  tspec_attr_t attr = tspec_attr_ints("shape", rank, shape);
  return bench_shaped(&gen->bench, TSPEC_OP_reshape, x, 1, &attr);
}

static tspec_value_t *make_slice(gen_t *gen, tspec_value_t *x) {
  int64_t starts[4];
  int64_t ends[4];
  int64_t steps[4];
  for (int d = 0; d < x->type.rank; d++) {
    bool whole = draw(gen, 2) == 0;
    int64_t size = x->type.dims[d];
    starts[d] = whole ? 0 : draw(gen, size);
    ends[d] = whole ? size : starts[d] + 1 + draw(gen, size - starts[d]);
    steps[d] = whole ? 1 : 1 + draw(gen, 2);
  }
  tspec_attr_t attrs[3] = {tspec_attr_ints("starts", x->type.rank, starts),
                           tspec_attr_ints("ends", x->type.rank, ends),
                           tspec_attr_ints("steps", x->type.rank, steps)};
  return bench_shaped(&gen->bench, TSPEC_OP_slice, x, 3, attrs);
}

static tspec_value_t *make_pad(gen_t *gen, tspec_value_t *x) {
  int64_t lo[4];
  int64_t hi[4];
  for (int d = 0; d < x->type.rank; d++) {
    lo[d] = draw(gen, 2);
    hi[d] = draw(gen, 2);
  }
  tspec_attr_t attrs[3] = {tspec_attr_ints("lo", x->type.rank, lo),
                           tspec_attr_ints("hi", x->type.rank, hi),
                           tspec_attr_float("value", (double)draw(gen, 3))};
  return bench_shaped(&gen->bench, TSPEC_OP_pad, x, 3, attrs);
}

static tspec_value_t *make_transpose(gen_t *gen, tspec_value_t *x) {
  int64_t perm[4];
  for (int i = 0; i < x->type.rank; i++) {
    int64_t j = draw(gen, i + 1);
    perm[i] = perm[j];
    perm[j] = i;
  }
  tspec_attr_t attr = tspec_attr_ints("perm", x->type.rank, perm);
  return bench_shaped(&gen->bench, TSPEC_OP_transpose, x, 1, &attr);
}

// Small whole numbers stay small and whole.
static tspec_value_t *make_matmul(gen_t *gen, tspec_value_t *x) {
  if (x->type.rank != 2) {
    return NULL;
  }
  int64_t dims[2] = {x->type.dims[1], 1 + draw(gen, 9)};
  tspec_value_t *w =
      bench_param(&gen->bench, draw_name(gen, "w"), draw_sharding(gen, 2, true, false), 2, dims);
  gen->values[gen->nvalues++] = w;
  return bench_matmul(&gen->bench, x, w);
}

static tspec_value_t *make_concat(gen_t *gen, tspec_value_t *x, tspec_value_t *y) {
  tspec_value_t *operands[2] = {x, y};
  tspec_attr_t attr = tspec_attr_int("dim", draw(gen, x->type.rank));
  tspec_op_t *op = tspec_op_create(gen->bench.program, gen->bench.func, NULL,
                                   &(tspec_op_build_t){.kind = TSPEC_OP_concat,
                                                       .noperands = 2,
                                                       .operands = operands,
                                                       .nattrs = 1,
                                                       .attrs = &attr},
                                   &gen->bench.diag);
  return op->results[0];
}

static tspec_value_t *make_argmax(gen_t *gen, tspec_value_t *x) {
  tspec_attr_t attrs[2] = {tspec_attr_reduce("kind", TSPEC_REDUCE_MAX),
                           tspec_attr_int("dim", draw(gen, x->type.rank))};
  tspec_value_t *index = bench_shaped(&gen->bench, TSPEC_OP_arg_reduce, x, 2, attrs);
  tspec_attr_t dtype = tspec_attr_dtype("dtype", TSPEC_DTYPE_F32);
  return bench_shaped(&gen->bench, TSPEC_OP_convert, index, 1, &dtype);
}

static tspec_value_t *make_scaled(gen_t *gen, tspec_value_t *x) {
  tspec_value_t *scalar = bench_splat(&gen->bench, (double)draw(gen, 3), 0, NULL);
  tspec_value_t *wide = bench_broadcast(&gen->bench, scalar, 0, x->type.rank, x->type.dims);
  return bench_binary(&gen->bench, draw(gen, 2) == 0 ? TSPEC_OP_mul : TSPEC_OP_add, x, wide);
}

static tspec_value_t *make_op(gen_t *gen) {
  static const tspec_op_kind_t unary[] = {TSPEC_OP_relu, TSPEC_OP_neg, TSPEC_OP_abs};
  static const tspec_op_kind_t binary[] = {TSPEC_OP_add, TSPEC_OP_sub, TSPEC_OP_maximum,
                                           TSPEC_OP_minimum};
  static const tspec_reduce_t reduces[] = {TSPEC_REDUCE_SUM, TSPEC_REDUCE_MAX, TSPEC_REDUCE_MIN};
  bench_t *bench = &gen->bench;
  tspec_value_t *x = pick(gen, -1);
  tspec_value_t *like = pick_like(gen, x);
  static const int linear_ops[] = {1, 2, 3, 4, 6, 7, 10, 11, 11};
  switch (gen->linear ? linear_ops[draw(gen, 9)] : draw(gen, 12)) {
  case 0:
    return bench_unary(bench, unary[draw(gen, 3)], x);
  case 1:
  case 2:
    return bench_binary(bench, binary[draw(gen, gen->linear ? 2 : 4)], x, like);
  case 3:
    return make_reshape(gen, x);
  case 4:
    return make_slice(gen, x);
  case 5:
    return make_pad(gen, x);
  case 6:
    return make_transpose(gen, x);
  case 7:
    return bench_reduce(bench, reduces[draw(gen, gen->linear ? 1 : 3)], x, draw(gen, x->type.rank));
  case 8:
    return make_concat(gen, x, like);
  case 9:
    return make_argmax(gen, x);
  case 10:
    return make_scaled(gen, x);
  default: {
    tspec_value_t *matrix = pick(gen, 2);
    return matrix == NULL ? NULL : make_matmul(gen, matrix);
  }
  }
}

static void build(gen_t *gen, uint64_t seed) {
  static const int64_t sizes[] = {2, 3, 4, 5, 2, 4};
  static const char *const names[] = {"a", "b", "c"};
  *gen = (gen_t){.state = seed * 7919 + 11, .linear = seed % 3 == 0};
  int naxes = 1 + (int)draw(gen, 3);
  int64_t nranks = 1;
  int used = 0;
  for (int i = 0; i < naxes; i++) {
    int64_t size = sizes[draw(gen, 6)];
    if (nranks * size <= 24) {
      gen->axes[used] = (tspec_mesh_axis_t){names[used], size, 0};
      used++;
      nranks *= size;
    }
  }
  bench_start(&gen->bench, gen->axes, used);
  for (int i = 0; i < 3; i++) {
    int64_t dims[3];
    int rank = 1 + (int)draw(gen, 3);
    for (int d = 0; d < rank; d++) {
      dims[d] = 1 + draw(gen, 9);
    }
    gen->values[gen->nvalues++] = bench_input(&gen->bench, draw_name(gen, "x"),
                                              draw_sharding(gen, rank, true, false), rank, dims);
  }
  for (int i = 0; i < 10; i++) {
    tspec_value_t *value = make_op(gen);
    if (value == NULL || value->type.rank > 4 || tspec_type_elems(value->type) > 3000) {
      continue;
    }
    if (value->type.rank > 0 && draw(gen, 3) == 0) {
      value = bench_constraint(&gen->bench, draw_name(gen, "let"), value,
                               draw_sharding(gen, value->type.rank, true, true));
    }
    gen->values[gen->nvalues++] = value;
  }
  for (int i = gen->nvalues - 3; i < gen->nvalues; i++) {
    bench_result(&gen->bench, draw_name(gen, "y"), gen->values[i],
                 draw(gen, 2) == 0 ? NULL
                                   : draw_sharding(gen, gen->values[i]->type.rank, true, false));
  }
}

static void check_ranks(gen_t *gen, const tspec_program_t *global, uint64_t seed) {
  tspec_check_report_t report;
  tspec_check_ranks_options_t options = {.seed = seed, .small_ints = true};
  bool ok = tspec_check_ranks(global, gen->bench.program, &options, &gen->bench.arena,
                              &gen->bench.diag, &report);
  const char *message =
      gen->bench.diag.count > 0 ? gen->bench.diag.messages[gen->bench.diag.count - 1].text : "?";
  cr_expect(ok, "seed %d: %s", (int)seed, message);
}

Test(random, ranks_compute_what_one_does, .timeout = 600) {
  for (uint64_t seed = 0; seed < ROUNDS; seed++) {
    gen_t gen;
    build(&gen, seed);
    const tspec_program_t *global = tspec_program_clone(gen.bench.program, &gen.bench.arena);
    if (seed % 2 == 0) {
      bench_run(&gen.bench, "simplify", tspec_pass_simplify);
    }
    bench_run_all(&gen.bench);
    check_ranks(&gen, global, seed);
    bench_end(&gen.bench);
  }
}
