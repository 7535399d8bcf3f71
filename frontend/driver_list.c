#include "frontend/driver.h"
#include "ir/op_rules.h"
#include "ir/shard/factor.h"

void tspec_driver_list_passes(FILE *stream) {
  for (int i = 0; i < tspec_pass_count(); i++) {
    const tspec_pass_info_t *pass = tspec_pass_info(i);
    fprintf(stream, "%-20s %-7s -> %-7s  %s\n", pass->name, tspec_level_name(pass->before),
            tspec_level_name(pass->after), pass->summary);
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
