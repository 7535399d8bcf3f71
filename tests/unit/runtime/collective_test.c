#include "runtime/collective.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "runtime/program.h"
#include "tests/support/image_builder.h"

// What collectives send by the ring convention; expected values by hand from design.md's formulas.
TestSuite(collective, .timeout = 30);

static bool can_reduce(tspec_rt_dtype_t dtype, tspec_rt_reduce_t reduce) {
  (void)reduce;
  return dtype == TSPEC_RT_F32;
}

static const tspec_comm_ops_t ops = {.can_reduce = can_reduce};

typedef struct plan_case_t {
  uint32_t kind;
  int ndims;
  int64_t sizes[2];
  const char *from;
  const char *to;
  const char *axes;
  int64_t bytes; ///< of the busiest rank
} plan_case_t;

// The plan of one rank for a collective between two f32 tensors on data=2, model=4.
static tspec_rt_status_t plan_of(const plan_case_t *c, int rank, tspec_rt_error_t *error,
                                 tspec_rt_program_t *program, tspec_rt_collective_t *plan) {
  static image_builder_t b;
  static int members[8];
  static tspec_comm_t comm;
  static tspec_comm_group_t group;
  memset(&b, 0, sizeof b);
  builder_begin(&b, "plan");
  builder_axis(&b, "data", 2);
  builder_axis(&b, "model", 4);
  uint32_t from = builder_tensor(&b, TSPEC_RT_F32, c->ndims, c->sizes, c->from);
  uint32_t to = builder_tensor(&b, TSPEC_RT_F32, c->ndims, c->sizes, c->to);
  tspec_image_span_t axes = builder_pieces(&b, c->axes);
  tspec_compiled_t compiled = {.image = builder_end(&b)};
  *error = (tspec_rt_error_t){0};
  cr_assert(tspec_rt_image_check(&compiled, error) == TSPEC_RT_OK, "%s", error->text);
  cr_assert(tspec_rt_program_init(program, &compiled, rank, error) == TSPEC_RT_OK);
  tspec_rt_pieces_t pieces = tspec_rt_image_pieces(compiled.image, axes);
  comm = (tspec_comm_t){.ops = &ops, .rank = rank, .nranks = 8};
  group =
      (tspec_comm_group_t){.comm = &comm,
                           .size = (int)tspec_rt_pieces_size(pieces),
                           .index = (int)tspec_rt_pieces_coordinate(&program->mesh, pieces, rank),
                           .members = members};
  for (int i = 0; i < group.size; ++i) {
    members[i] = (int)tspec_rt_pieces_move(&program->mesh, pieces, rank, i);
  }
  tspec_rt_collective_spec_t spec = {.kind = c->kind,
                                     .from = &program->tensors[from],
                                     .to = &program->tensors[to],
                                     .axes = pieces,
                                     .group = &group};
  return tspec_rt_collective_plan(&program->mesh, rank, &spec, &program->pool, error, plan);
}

static int64_t most_bytes(const plan_case_t *c) {
  int64_t most = 0;
  for (int rank = 0; rank < 8; ++rank) {
    tspec_rt_error_t error;
    tspec_rt_program_t program;
    tspec_rt_collective_t plan;
    tspec_rt_status_t status = plan_of(c, rank, &error, &program, &plan);
    cr_assert(eq(int, (int)status, (int)TSPEC_RT_OK), "%s", error.text);
    most = plan.sent_bytes > most ? plan.sent_bytes : most;
    tspec_rt_program_deinit(&program);
  }
  return most;
}

Test(collective, counts_bytes_by_the_ring_convention) {
  static const plan_case_t cases[] = {
      // 2 * 3 / 4 of 8 * 6 floats
      {TSPEC_IMAGE_ALL_REDUCE, 2, {16, 6}, "[data, -] sum(model)", "[data, -]", "model", 288},
      // 2 * 7 / 8 of one float is 7 bytes; of 5 floats 35
      {TSPEC_IMAGE_ALL_REDUCE, 0, {0}, "[] sum(data*model)", "[]", "data*model", 7},
      {TSPEC_IMAGE_ALL_REDUCE, 1, {5}, "[-] sum(data*model)", "[-]", "data*model", 35},
      // blocks of 2, 2, 2, 0 columns in 4 rows: the whole 96 minus nothing
      {TSPEC_IMAGE_ALL_GATHER, 2, {7, 6}, "[data, model]", "[data, -]", "model", 96},
      // 8 columns: 128 minus 32
      {TSPEC_IMAGE_ALL_GATHER, 2, {7, 8}, "[data, model]", "[data, -]", "model", 96},
      // 16 rows over 4: 16 * 4 minus 4 * 4
      {TSPEC_IMAGE_REDUCE_SCATTER, 1, {16}, "[-] sum(model)", "[model]", "model", 48},
      // blocks 2 2 1 0 of 5
      {TSPEC_IMAGE_REDUCE_SCATTER, 1, {5}, "[-] sum(model)", "[model]", "model", 20},
      // 3 / 4 of a block of 2 x 8
      {TSPEC_IMAGE_ALL_TO_ALL, 2, {8, 8}, "[model, -]", "[-, model]", "model", 48},
      // the first rank keeps 2 of 2 x 5 ... and sends the rest: rows 0, 1; columns 2, 3, 4
      {TSPEC_IMAGE_ALL_TO_ALL, 2, {5, 5}, "[model, -]", "[-, model]", "model", 24},
      // each block of one element goes elsewhere, but for ranks 0 and 7
      {TSPEC_IMAGE_PERMUTE, 1, {8}, "[data*model]", "[model*data]", "data*model", 4},
      {TSPEC_IMAGE_ALL_SLICE, 1, {8}, "[-]", "[model]", "model", 0},
      // copies share the work: everyone sends one block of 2
      {TSPEC_IMAGE_PERMUTE, 1, {8}, "[model]", "[model:(2)2*model:(1)2]", "model", 8},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    cr_assert(eq(i64, most_bytes(&cases[i]), cases[i].bytes), "case %zu", i);
  }
}

Test(collective, sends_and_receives_match) {
  static const plan_case_t c = {
      TSPEC_IMAGE_ALL_TO_ALL, 2, {7, 5}, "[model*data, -]", "[data, model]", "data*model", 0};
  int64_t sent[8][8] = {{0}};
  int64_t received[8][8] = {{0}};
  for (int rank = 0; rank < 8; ++rank) {
    tspec_rt_error_t error;
    tspec_rt_program_t program;
    tspec_rt_collective_t plan;
    cr_assert(plan_of(&c, rank, &error, &program, &plan) == TSPEC_RT_OK, "%s", error.text);
    for (int i = 0; i < plan.nsends; ++i) {
      sent[rank][plan.sends[i].peer] += plan.sends[i].bytes;
    }
    for (int i = 0; i < plan.nrecvs; ++i) {
      received[plan.recvs[i].peer][rank] += plan.recvs[i].bytes;
    }
    tspec_rt_program_deinit(&program);
  }
  for (int a = 0; a < 8; ++a) {
    for (int d = 0; d < 8; ++d) {
      cr_assert(eq(i64, sent[a][d], received[a][d]), "%d to %d", a, d);
    }
  }
}

Test(collective, refuses_what_the_group_does_not_hold) {
  static const plan_case_t cases[] = {
      // the group along data holds one quarter of the columns
      {TSPEC_IMAGE_ALL_GATHER, 2, {4, 8}, "[data, model]", "[-, -]", "data", 0},
      // blocks of 5 over 2 and over 8 do not nest, and a slice receives nothing
      {TSPEC_IMAGE_ALL_SLICE, 1, {5}, "[data]", "[data*model]", "model", 0},
      // nothing is pending before
      {TSPEC_IMAGE_PERMUTE, 1, {8}, "[-]", "[-] sum(model)", "model", 0},
      // a gather does not reduce
      {TSPEC_IMAGE_ALL_GATHER, 1, {8}, "[-] sum(model)", "[-]", "model", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    bool refused = false;
    for (int rank = 0; rank < 8; ++rank) {
      tspec_rt_error_t error;
      tspec_rt_program_t program;
      tspec_rt_collective_t plan;
      refused = refused || plan_of(&cases[i], rank, &error, &program, &plan) == TSPEC_RT_IMAGE;
      tspec_rt_program_deinit(&program);
    }
    cr_assert(refused, "case %zu", i);
  }
}
