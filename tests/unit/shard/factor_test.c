#include "ir/shard/factor.h"

#include "setting.h"

static const tspec_mesh_axis_t kNone[] = {{NULL, 0, 0}};

static char *print_rule(setting_t *s, tspec_rule_builder_t *builder) {
  return (char *)(uintptr_t)tspec_factor_rule_print(&s->arena, tspec_rule_builder_finish(builder));
}

Test(factor, a_matmul_prints_like_shardys) {
  setting_t s;
  setting_open(&s, kNone);
  tspec_type_t operands[] = {TYPE(&s, 8, 32), TYPE(&s, 32, 16)};
  tspec_type_t result = TYPE(&s, 8, 16);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 2, operands, 1, &result);
  int i = tspec_rule_builder_factor(&builder, 8, TSPEC_FACTOR_PASS_THROUGH);
  int j = tspec_rule_builder_factor(&builder, 16, TSPEC_FACTOR_PASS_THROUGH);
  int k = tspec_rule_builder_factor(&builder, 32, TSPEC_FACTOR_REDUCTION);
  tspec_rule_builder_map_operand(&builder, 0, 0, i);
  tspec_rule_builder_map_operand(&builder, 0, 1, k);
  tspec_rule_builder_map_operand(&builder, 1, 0, k);
  tspec_rule_builder_map_operand(&builder, 1, 1, j);
  tspec_rule_builder_map_result(&builder, 0, 0, i);
  tspec_rule_builder_map_result(&builder, 0, 1, j);
  cr_assert(eq(str, print_rule(&s, &builder),
               "([i, k],[k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}"));
  setting_close(&s);
}

Test(factor, dims_without_a_factor_get_one_of_size_one) {
  setting_t s;
  setting_open(&s, kNone);
  tspec_type_t operands[] = {TYPE(&s, 4, 3), TYPE(&s, 4, 5)};
  tspec_type_t result = TYPE(&s, 4, 8);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 2, operands, 1, &result);
  int i = tspec_rule_builder_factor(&builder, 4, TSPEC_FACTOR_PASS_THROUGH);
  tspec_rule_builder_map_operand(&builder, 0, 0, i);
  tspec_rule_builder_map_operand(&builder, 1, 0, i);
  tspec_rule_builder_map_result(&builder, 0, 0, i);
  cr_assert(eq(str, print_rule(&s, &builder), "([i, j],[i, k])->([i, l]) {i=4, j=1, k=1, l=1}"));
  setting_close(&s);
}

Test(factor, a_factor_of_size_one_joins_only_an_empty_dim) {
  setting_t s;
  setting_open(&s, kNone);
  tspec_type_t operand = TYPE(&s, 4);
  tspec_type_t result = TYPE(&s, 4);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 1, &operand, 1, &result);
  int i = tspec_rule_builder_factor(&builder, 4, TSPEC_FACTOR_PASS_THROUGH);
  int one = tspec_rule_builder_factor(&builder, 1, TSPEC_FACTOR_PASS_THROUGH);
  tspec_rule_builder_map_operand(&builder, 0, 0, i);
  tspec_rule_builder_map_operand(&builder, 0, 0, one);
  tspec_rule_builder_map_result(&builder, 0, 0, one);
  cr_assert(eq(str, print_rule(&s, &builder), "([i])->([j]) {i=4, j=1}"));
  setting_close(&s);
}

Test(factor, pointwise_leaves_scalars_out) {
  setting_t s;
  setting_open(&s, kNone);
  tspec_type_t scalar = {.dtype = TSPEC_DTYPE_F32};
  tspec_type_t operands[] = {scalar, TYPE(&s, 4, 8)};
  tspec_type_t result = TYPE(&s, 4, 8);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 2, operands, 1, &result);
  tspec_rule_builder_pointwise(&builder);
  cr_assert(eq(str, print_rule(&s, &builder), "([],[i, j])->([i, j]) {i=4, j=8}"));
  setting_close(&s);
}

Test(factor, kinds_and_blocks_are_listed) {
  setting_t s;
  setting_open(&s, kNone);
  tspec_type_t operand = TYPE(&s, 4, 8, 2);
  tspec_type_t result = TYPE(&s, 4, 8, 2);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 1, &operand, 1, &result);
  const tspec_factor_kind_t kinds[] = {TSPEC_FACTOR_NEED_REPLICATION, TSPEC_FACTOR_PERMUTATION,
                                       TSPEC_FACTOR_NEED_REPLICATION};
  for (int dim = 0; dim < 3; dim++) {
    int f = tspec_rule_builder_factor(&builder, operand.dims[dim], kinds[dim]);
    tspec_rule_builder_map_operand(&builder, 0, dim, f);
    tspec_rule_builder_map_result(&builder, 0, dim, f);
  }
  tspec_rule_builder_block(&builder, 1);
  cr_assert(eq(str, print_rule(&s, &builder),
               "([i, j, k])->([i, j, k]) {i=4, j=8, k=2} need_replication={i, k} permutation={j} "
               "blocked_propagation={j}"));
  setting_close(&s);
}

Test(factor, the_letter_after_z_is_z_1) {
  setting_t s;
  setting_open(&s, kNone);
  int64_t sizes[20] = {0};
  for (int i = 0; i < 19; i++) {
    sizes[i] = 2;
  }
  tspec_type_t type = type_of(&s, sizes);
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, &s.arena, 0, NULL, 1, &type);
  tspec_rule_builder_pointwise(&builder);
  cr_assert(eq(str, print_rule(&s, &builder),
               "()->([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1]) {i=2, j=2, k=2, "
               "l=2, m=2, n=2, o=2, p=2, q=2, r=2, s=2, t=2, u=2, v=2, w=2, x=2, y=2, z=2, "
               "z_1=2}"));
  setting_close(&s);
}
