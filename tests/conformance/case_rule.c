// Rules of a case's ops: from the op table wherever the language has the op.
#include "case.h"

#include <string.h>

#include "ir/base/diag.h"

typedef struct op_name_t {
  const char *corpus;
  const char *ours;
} op_name_t;

static const op_name_t renamed[] = {
    {"barrier", "reshard"}, {"compare", "lt"}, {"cosine", "cos"}, {"divide", "div"},
    {"multiply", "mul"},    {"negate", "neg"}, {"sine", "sin"},   {"subtract", "sub"},
};

tspec_op_kind_t case_op_kind(const char *name) {
  for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++) {
    if (strcmp(renamed[i].corpus, name) == 0) {
      return tspec_op_find(renamed[i].ours);
    }
  }
  return tspec_op_find(name);
}

typedef TSPEC_VEC(tspec_attr_t) attr_vec_t;

static void add_ints(const case_t *c, attr_vec_t *attrs, const case_op_t *op, const char *from,
                     const char *name) {
  tspec_attr_t attr = {.name = name, .kind = TSPEC_ATTR_INTS};
  attr.ints = case_ints(c, op->json, from, &attr.count);
  if (json_object_get(op->json, from) != NULL) {
    TSPEC_VEC_PUSH(c->arena, attrs, attr);
  }
}

/// The attributes of our ops, from those of the corpus.
static attr_vec_t read_attrs(const case_t *c, const case_op_t *op) {
  static const op_name_t lists[] = {
      {"map", "dims"},
      {"dims", "dims"},
      {"perm", "perm"},
      {"shape", "shape"},
      {"lhs_batch", "lhs_batch"},
      {"rhs_batch", "rhs_batch"},
      {"starts", "starts"},
      {"limits", "ends"},
      {"strides", "steps"},
      {"low", "lo"},
      {"high", "hi"},
      {"lhs_contract", "lhs_contract"},
      {"rhs_contract", "rhs_contract"},
  };
  attr_vec_t attrs = {0};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    add_ints(c, &attrs, op, lists[i].corpus, lists[i].ours);
  }
  if (json_object_get(op->json, "dim") != NULL) {
    TSPEC_VEC_PUSH(
        c->arena, &attrs,
        (tspec_attr_t){.name = "dim", .kind = TSPEC_ATTR_INT, .i = case_int(op->json, "dim", 0)});
  }
  TSPEC_VEC_PUSH(
      c->arena, &attrs,
      (tspec_attr_t){.name = "kind", .kind = TSPEC_ATTR_REDUCE, .reduce = TSPEC_REDUCE_SUM});
  return attrs;
}

/// Which operands are slices, and of what: a concat of slices is an exchange between neighbours.
static tspec_operand_origin_t *read_origins(const case_t *c, const case_op_t *op) {
  tspec_operand_origin_t *origins =
      TSPEC_ARENA_NEW(c->arena, tspec_operand_origin_t, op->noperands);
  for (int i = 0; i < op->noperands; i++) {
    case_value_t *value = op->operands[i];
    json_t *definition = value->definition;
    if (definition != NULL && strcmp(case_text(definition, "op"), "slice") == 0) {
      origins[i].sliced = true;
      value = case_find(
          c, json_string_value(json_array_get(json_object_get(definition, "operands"), 0)));
    }
    origins[i].tensor = value;
  }
  return origins;
}

/// The same rule for an op with more operands, scalars that take no part (initial values, fillers).
static const tspec_factor_rule_t *add_scalars(const case_t *c, const tspec_factor_rule_t *rule,
                                              int noperands) {
  tspec_factor_rule_t *more = TSPEC_ARENA_NEW(c->arena, tspec_factor_rule_t, 1);
  *more = *rule;
  tspec_factor_map_t *operands = TSPEC_ARENA_NEW(c->arena, tspec_factor_map_t, noperands);
  memcpy(operands, rule->operands, sizeof *operands * (size_t)rule->noperands);
  more->noperands = noperands;
  more->operands = operands;
  return more;
}

static const tspec_factor_rule_t *table_rule(const case_t *c, const case_op_t *op,
                                             const tspec_op_info_t *info, tspec_op_kind_t kind) {
  attr_vec_t attrs = read_attrs(c, op);
  int noperands = info->noperands >= 0 ? info->noperands : op->noperands;
  tspec_op_view_t view = {.kind = kind,
                          .noperands = noperands,
                          .operands = op->operand_types,
                          .nresults = op->nresults,
                          .results = op->result_types,
                          .nattrs = (int)attrs.count,
                          .attrs = attrs.items,
                          .origins = read_origins(c, op)};
  const tspec_factor_rule_t *rule = info->rules->rule(&view, c->arena, c->conservative);
  return rule != NULL && noperands < op->noperands ? add_scalars(c, rule, op->noperands) : rule;
}

/// Maps a factor to the dims of the tensors that list its name.
static void map_named(tspec_rule_builder_t *builder, json_t *tensors, bool results,
                      const char *name, int factor) {
  size_t t, d, f;
  json_t *tensor, *dim, *letter;
  json_array_foreach(tensors, t, tensor) {
    json_array_foreach(tensor, d, dim) {
      json_array_foreach(dim, f, letter) {
        bool named = strcmp(json_string_value(letter), name) == 0;
        if (named && results) {
          tspec_rule_builder_map_result(builder, (int)t, (int)d, factor);
        } else if (named) {
          tspec_rule_builder_map_operand(builder, (int)t, (int)d, factor);
        }
      }
    }
  }
}

/// A rule that is written out: lists of factor names per dim.
static const tspec_factor_rule_t *written_rule(const case_t *c, const case_op_t *op, json_t *rule) {
  tspec_rule_builder_t builder;
  tspec_rule_builder_init(&builder, c->arena, op->noperands, op->operand_types, op->nresults,
                          op->result_types);
  const char *name;
  json_t *size;
  json_t *factors = json_object_get(rule, "factors");
  json_object_foreach(factors, name, size) {
    int factor =
        tspec_rule_builder_factor(&builder, json_integer_value(size), TSPEC_FACTOR_PASS_THROUGH);
    map_named(&builder, json_object_get(rule, "operands"), false, name, factor);
    map_named(&builder, json_object_get(rule, "results"), true, name, factor);
  }
  return tspec_rule_builder_finish(&builder);
}

static bool has_elements(const case_op_t *op) {
  for (int i = 0; i < op->noperands; i++) {
    if (tspec_type_elems(op->operand_types[i]) == 0) {
      return false;
    }
  }
  return true;
}

const tspec_factor_rule_t *case_rule(const case_t *c, const case_op_t *op) {
  json_t *written = json_object_get(op->json, "rule");
  if (written != NULL) {
    return written_rule(c, op, written);
  }
  tspec_op_kind_t kind = case_op_kind(op->name);
  if (kind == TSPEC_OP_COUNT || (kind == TSPEC_OP_reduce && op->nresults > 1)) {
    return case_foreign_rule(c, op);
  }
  const tspec_op_info_t *info = tspec_op_info(kind);
  // The language has no sizes 0, so its rules need not see them.
  if (info->rules->rule == NULL || (kind == TSPEC_OP_reshape && !has_elements(op))) {
    return NULL;
  }
  return table_rule(c, op, info, kind);
}

// ---- kind "rule" --------------------------------------------------------------------------------

static void print_wanted_dims(tspec_buf_t *buf, json_t *tensors) {
  size_t t, d, f;
  json_t *tensor, *dim, *letter;
  tspec_buf_puts(buf, "(");
  json_array_foreach(tensors, t, tensor) {
    tspec_buf_puts(buf, t > 0 ? ",[" : "[");
    json_array_foreach(tensor, d, dim) {
      tspec_buf_puts(buf, d > 0 ? ", " : "");
      json_array_foreach(dim, f, letter) {
        tspec_buf_puts(buf, json_string_value(letter));
      }
    }
    tspec_buf_puts(buf, "]");
  }
  tspec_buf_puts(buf, ")");
}

static void print_wanted_set(tspec_buf_t *buf, json_t *letters, const char *name) {
  size_t i;
  json_t *letter;
  json_array_foreach(letters, i, letter) {
    tspec_buf_printf(buf, "%s%s%s", i > 0 ? ", " : " ", i > 0 ? "" : name, i > 0 ? "" : "={");
    tspec_buf_puts(buf, json_string_value(letter));
  }
  tspec_buf_puts(buf, json_array_size(letters) > 0 ? "}" : "");
}

/// The rule as tspec_factor_rule_print would write it.
static const char *print_wanted(const case_t *c, json_t *rule) {
  tspec_buf_t buf = {0};
  print_wanted_dims(&buf, json_object_get(rule, "operands"));
  tspec_buf_puts(&buf, "->");
  print_wanted_dims(&buf, json_object_get(rule, "results"));
  tspec_buf_puts(&buf, " {");
  const char *name;
  json_t *size;
  bool any = false;
  json_t *factors = json_object_get(rule, "factors");
  json_object_foreach(factors, name, size) {
    tspec_buf_printf(&buf, "%s%s=%lld", any ? ", " : "", name, (long long)json_integer_value(size));
    any = true;
  }
  tspec_buf_puts(&buf, "}");
  print_wanted_set(&buf, json_object_get(rule, "reduction"), "reduction");
  print_wanted_set(&buf, json_object_get(rule, "replicate"), "need_replication");
  print_wanted_set(&buf, json_object_get(rule, "permute"), "permutation");
  print_wanted_set(&buf, json_object_get(rule, "blocked"), "blocked_propagation");
  const char *text = tspec_arena_strdup(c->arena, tspec_buf_get(&buf), buf.length);
  tspec_buf_deinit(&buf);
  return text;
}

verdict_t case_run_rule(case_t *c) {
  verdict_t verdict = VERDICT_PASSED;
  size_t i;
  json_t *json;
  json_array_foreach(json_object_get(c->json, "ops"), i, json) {
    case_op_t op = case_read_op(c, json);
    json_t *expected = op.nresults == 0 ? NULL
                                        : json_object_get(json_object_get(c->json, "expect_rule"),
                                                          op.results[0]->name);
    if (expected == NULL) {
      continue;
    }
    const tspec_factor_rule_t *rule = case_rule(c, &op);
    const char *got = rule == NULL ? "none" : tspec_factor_rule_print(c->arena, rule);
    const char *wanted = json_is_null(expected) ? "none" : print_wanted(c, expected);
    if (strcmp(got, wanted) != 0) {
      tspec_buf_printf(c->complaint, "  %s '%s': got    %s\n  %*s wanted %s\n", op.name,
                       op.results[0]->name, got, (int)strlen(op.name) + 4, "", wanted);
      verdict = VERDICT_FAILED;
    }
  }
  return verdict;
}
