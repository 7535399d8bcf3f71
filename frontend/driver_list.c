#include "frontend/driver.h"
#include "ir/op_rules.h"
#include "ir/shard/factor.h"

static void put_pass(const char *name, const char *from, const char *to, const char *summary,
                     FILE *stream) {
  fprintf(stream, "%-20s %-7s -> %-7s  %s\n", name, from, to, summary);
}

static void put_extra(const tspec_extra_pass_t *pass, FILE *stream) {
  const char *level = pass->any_level ? "any" : tspec_level_name(pass->info.before);
  put_pass(pass->info.name, level, level, pass->info.summary, stream);
  const char *place = pass->run_before != NULL ? pass->run_before : pass->run_after;
  fprintf(stream, "  of '%s', %s %s\n", pass->library,
          pass->run_before != NULL  ? "runs before"
          : pass->run_after != NULL ? "runs after"
                                    : "runs in",
          place != NULL ? place : "--passes alone");
  for (int i = 0; i < pass->noptions; i++) {
    const tspec_extra_option_t *option = &pass->options[i];
    fprintf(stream, "  %s=%s  %s\n", option->key, option->value, option->summary);
  }
}

void tspec_driver_list_passes(const tspec_extra_passes_t *extras, FILE *stream) {
  for (int i = 0; i < tspec_pass_count(); i++) {
    const tspec_pass_info_t *pass = tspec_pass_info(i);
    put_pass(pass->name, tspec_level_name(pass->before), tspec_level_name(pass->after),
             pass->summary, stream);
  }
  for (size_t i = 0; i < extras->count; i++) {
    put_extra(extras->items[i], stream);
  }
}

static void put_arity(FILE *stream, int count) {
  if (count < 0) {
    fputs("n", stream);
  } else {
    fprintf(stream, "%d", count);
  }
}

void tspec_driver_list_ops(FILE *stream) {
  for (int kind = 0; kind < TSPEC_OP_COUNT; kind++) {
    const tspec_op_info_t *info = tspec_op_info((tspec_op_kind_t)kind);
    fprintf(stream, "%-16s ", info->name);
    put_arity(stream, info->noperands);
    fputs(" -> ", stream);
    put_arity(stream, info->nresults);
    fprintf(stream, "  %s", info->rules->summary);
    const char *before = " {";
    for (const tspec_attr_spec_t *spec = info->rules->attrs; spec != NULL && spec->name != NULL;
         spec++) {
      fprintf(stream, "%s%s%s", before, spec->name, spec->required ? "" : "?");
      before = ", ";
    }
    fputs(*before == ',' ? "}\n" : "\n", stream);
  }
}

// ---- docs/passes.md and docs/ops.md ----

void tspec_driver_list_passes_md(FILE *stream) {
  fputs("# Passes\n\nMade by `tools/make_docs.sh` from `passes/passes.def`. The default pipeline "
        "runs "
        "them in this order; `--passes=NAME,..` runs others, upstream passes\namong them, and "
        "`--stop-after=NAME` ends early. Levels: `docs/architecture.md`.\n\n"
        "| pass | from level | to level | what it does |\n|---|---|---|---|\n",
        stream);
  for (int i = 0; i < tspec_pass_count(); i++) {
    const tspec_pass_info_t *pass = tspec_pass_info(i);
    fprintf(stream, "| `%s` | %s | %s | %s |\n", pass->name, tspec_level_name(pass->before),
            tspec_level_name(pass->after), pass->summary);
  }
}

/// A text in a cell of a table.
static void put_cell(FILE *stream, const char *text) {
  for (; *text != '\0'; text++) {
    fprintf(stream, "%s%c", *text == '|' || *text == '*' || *text == '<' ? "\\" : "", *text);
  }
}

static const char *linear_text(tspec_linear_t linear) {
  static const char *const kTexts[] = {
      [TSPEC_LINEAR_NONE] = "",
      [TSPEC_LINEAR_EACH] = "all",
      [TSPEC_LINEAR_ONE] = "each",
      [TSPEC_LINEAR_FIRST] = "first",
  };
  return kTexts[linear];
}

static void put_attrs_md(FILE *stream) {
  static const char *const kKinds[] = {
      [TSPEC_ATTR_INT] = "integer",       [TSPEC_ATTR_INTS] = "integers",
      [TSPEC_ATTR_FLOAT] = "number",      [TSPEC_ATTR_FLOATS] = "numbers",
      [TSPEC_ATTR_STRING] = "text",       [TSPEC_ATTR_DTYPE] = "dtype",
      [TSPEC_ATTR_REDUCE] = "reduction",  [TSPEC_ATTR_AXES] = "mesh axes",
      [TSPEC_ATTR_SHARDING] = "sharding",
  };
  fputs("\n## Attributes\n\n| op | attribute | kind | meaning |\n|---|---|---|---|\n", stream);
  for (int kind = 0; kind < TSPEC_OP_COUNT; kind++) {
    const tspec_op_info_t *info = tspec_op_info((tspec_op_kind_t)kind);
    for (const tspec_attr_spec_t *spec = info->rules->attrs; spec != NULL && spec->name != NULL;
         spec++) {
      fprintf(stream, "| `%s` | `%s`%s | %s | %s |\n", info->name, spec->name,
              spec->required ? "" : " (may be left out)", kKinds[spec->kind], spec->meaning);
    }
  }
}

void tspec_driver_list_ops_md(FILE *stream) {
  fputs("# Ops\n\nMade by `tools/make_docs.sh` from `ir/ops.def` and `ir/rules/`. What holds for "
        "all of them, and what words like \"elementwise\" promise, stands in\n"
        "`docs/dialect.md`. *Linear*: in which operands a sum of partial results may stay one "
        "across the op: `all` of them together, `each` while the\nothers are complete, the `first` "
        "while the others are.\n\n"
        "| op | operands | results | meaning | elementwise | linear in "
        "|\n|---|---|---|---|---|---|\n",
        stream);
  for (int kind = 0; kind < TSPEC_OP_COUNT; kind++) {
    const tspec_op_info_t *info = tspec_op_info((tspec_op_kind_t)kind);
    fprintf(stream, "| `%s` | ", info->name);
    put_arity(stream, info->noperands);
    fputs(" | ", stream);
    put_arity(stream, info->nresults);
    fputs(" | ", stream);
    put_cell(stream, info->rules->summary);
    fprintf(stream, " | %s | %s |\n",
            (info->rules->traits & TSPEC_TRAIT_ELEMENTWISE) != 0 ? "yes" : "",
            linear_text(info->rules->linear));
  }
  put_attrs_md(stream);
}

// ---- --list-rules ----

void tspec_driver_list_rules(const tspec_driver_t *driver, FILE *stream) {
  const tspec_program_t *program = driver->program;
  for (int i = 0; i < program->nfuncs; i++) {
    fprintf(stream, "%s\n", program->funcs[i]->name);
    for (const tspec_op_t *op = program->funcs[i]->first; op != NULL; op = op->next) {
      const tspec_op_info_t *info = tspec_op_info(op->kind);
      tspec_op_view_t view = tspec_op_view(op, driver->arena);
      const tspec_factor_rule_t *rule =
          info->rules->rule == NULL ? NULL : info->rules->rule(&view, driver->arena, false);
      fprintf(stream, "  %-16s %s  (%s)\n", info->name,
              rule == NULL ? "no rule" : tspec_factor_rule_print(driver->arena, rule),
              tspec_range_brief(&driver->sources, op->range));
    }
  }
}
