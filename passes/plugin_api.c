// What plugins call while a pass of theirs runs: the module, values, shardings, costs, messages.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/mlir/context.h"
#include "ir/mlir/kernels.h"
#include "ir/mlir/names.h"
#include "passes/plugin.h"
#include "passes/plugin_value.h"

// ---- the run ----

MlirModule tspec_plugin_module(tspec_plugin_run_t *run) {
  return run->module;
}

MlirContext tspec_plugin_context(tspec_plugin_run_t *run) {
  return run->context;
}

const tspec_program_t *tspec_plugin_program(tspec_plugin_run_t *run) {
  return run->reader.program;
}

const char *tspec_plugin_level(tspec_plugin_run_t *run) {
  return tspec_level_name(run->reader.program->level);
}

const char *tspec_plugin_option(tspec_plugin_run_t *run, const char *key) {
  for (int i = 0; i < run->pass->noptions; i++) {
    if (strcmp(run->pass->options[i].key, key) == 0) {
      return run->pass->options[i].value;
    }
  }
  return NULL;
}

bool tspec_plugin_option_int(tspec_plugin_run_t *run, const char *key, int64_t *out_number) {
  const char *text = tspec_plugin_option(run, key);
  TSPEC_CHECK(text != NULL, "pass '%s' has no option '%s'", run->pass->info.name, key);
  char *end = NULL;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || number < 0) {
    tspec_diag_error(run->diag, (tspec_range_t){0},
                     "--pass-plugin: option '%s' of '%s': got '%s', wanted a whole number", key,
                     run->pass->info.name, text);
    return false;
  }
  *out_number = number;
  return true;
}

const tspec_mesh_t *tspec_plugin_mesh(tspec_plugin_run_t *run) {
  return &run->reader.program->mesh;
}

tspec_arena_t *tspec_plugin_arena(tspec_plugin_run_t *run) {
  return run->arena;
}

// ---- walks ----

/// The next entry at or after a module-level op, or a null one.
static MlirOperation find_entry(tspec_plugin_run_t *run, MlirOperation op) {
  while (
      !mlirOperationIsNull(op) &&
      (strcmp(tspec_read_op_name(&run->reader, op), "func.func") != 0 || tspec_kernels_owns(op))) {
    op = mlirOperationGetNextInBlock(op);
  }
  return op;
}

static MlirOperation first_entry(tspec_plugin_run_t *run) {
  return find_entry(run, mlirBlockGetFirstOperation(mlirModuleGetBody(run->module)));
}

static MlirBlock body_of(MlirOperation entry) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(entry, 0));
}

static const char *entry_name(tspec_plugin_run_t *run, MlirOperation entry) {
  MlirAttribute name = mlirOperationGetAttributeByName(entry, tspec_string_ref("sym_name"));
  return tspec_read_text(&run->reader, mlirStringAttrGetValue(name));
}

static bool is_visible(tspec_plugin_run_t *run, MlirOperation op) {
  const char *name = tspec_read_op_name(&run->reader, op);
  return strcmp(name, TSPEC_NAME_TO_ANY) != 0 && strcmp(name, TSPEC_NAME_FROM_ANY) != 0 &&
         strcmp(name, "func.return") != 0;
}

bool tspec_plugin_for_each_op(tspec_plugin_run_t *run, tspec_plugin_visit_fn_t visit, void *user) {
  MlirOperation entry = first_entry(run);
  for (; !mlirOperationIsNull(entry); entry = find_entry(run, mlirOperationGetNextInBlock(entry))) {
    const char *name = entry_name(run, entry);
    MlirOperation op = mlirBlockGetFirstOperation(body_of(entry));
    while (!mlirOperationIsNull(op)) {
      MlirOperation next = mlirOperationGetNextInBlock(op); // `op` may go
      if (is_visible(run, op) && !visit(run, name, op, user)) {
        return false;
      }
      op = next;
    }
  }
  return true;
}

bool tspec_plugin_for_each_arg(tspec_plugin_run_t *run, tspec_plugin_visit_arg_fn_t visit,
                               void *user) {
  MlirOperation entry = first_entry(run);
  for (; !mlirOperationIsNull(entry); entry = find_entry(run, mlirOperationGetNextInBlock(entry))) {
    const char *name = entry_name(run, entry);
    MlirBlock body = body_of(entry);
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++) {
      if (!visit(run, name, mlirBlockGetArgument(body, i), user)) {
        return false;
      }
    }
  }
  return true;
}

const char *tspec_plugin_op_name(tspec_plugin_run_t *run, MlirOperation op) {
  const char *name = tspec_read_op_name(&run->reader, op);
  return strncmp(name, "tspec.", strlen("tspec.")) == 0 ? name + strlen("tspec.") : name;
}

// ---- collectives ----

/// The attributes of `op` that its row in the op table names. False after reporting one of another
/// kind.
static bool read_attrs(tspec_plugin_run_t *run, MlirOperation op, tspec_op_t *stand_in) {
  const char *because = NULL;
  const tspec_attr_spec_t *specs = tspec_op_info(stand_in->kind)->rules->attrs;
  tspec_subject_t subject = {
      .owner = tspec_plugin_op_name(run, op),
      .range = tspec_read_range(&run->reader, mlirOperationGetLocation(op), &because)};
  int count = 0;
  while (specs[count].name != NULL) {
    count++;
  }
  stand_in->attrs = TSPEC_ARENA_NEW(run->arena, tspec_attr_t, count);
  for (int i = 0; i < count; i++) {
    subject.name = specs[i].name;
    MlirAttribute attr = mlirOperationGetAttributeByName(op, tspec_string_ref(specs[i].name));
    if (!mlirAttributeIsNull(attr) && !tspec_read_attr(&run->reader, &subject, attr, specs[i].kind,
                                                       0, &stand_in->attrs[stand_in->nattrs++])) {
      return false;
    }
  }
  return true;
}

static bool read_value(tspec_plugin_run_t *run, MlirValue value, tspec_value_t **out_value) {
  *out_value = TSPEC_ARENA_NEW(run->arena, tspec_value_t, 1);
  return tspec_plugin_get_type(run, value, &(*out_value)->type) &&
         tspec_plugin_get_sharding(run, value, &(*out_value)->sharding) &&
         (*out_value)->sharding != NULL;
}

int64_t tspec_plugin_collective_bytes(tspec_plugin_run_t *run, MlirOperation op) {
  tspec_op_kind_t kind = tspec_op_find(tspec_plugin_op_name(run, op));
  if (kind == TSPEC_OP_COUNT ||
      (tspec_op_info(kind)->rules->traits & TSPEC_TRAIT_COLLECTIVE) == 0 ||
      mlirOperationGetNumOperands(op) < 1 || mlirOperationGetNumResults(op) < 1) {
    return -1;
  }
  tspec_op_t stand_in = {.kind = kind, // what tspec_collective_of looks at
                         .noperands = (int)mlirOperationGetNumOperands(op),
                         .nresults = (int)mlirOperationGetNumResults(op)};
  stand_in.results = TSPEC_ARENA_NEW(run->arena, tspec_value_t *, stand_in.nresults);
  stand_in.operands = TSPEC_ARENA_NEW(run->arena, tspec_value_t *, stand_in.noperands);
  bool ok = read_attrs(run, op, &stand_in);
  for (int i = 0; ok && i < stand_in.nresults; i++) {
    ok = read_value(run, mlirOperationGetResult(op, i), &stand_in.results[i]);
  }
  for (int i = 0; ok && i < stand_in.noperands; i++) {
    ok = read_value(run, mlirOperationGetOperand(op, i), &stand_in.operands[i]);
  }
  tspec_collective_use_t use;
  return ok && tspec_op_get_attr(&stand_in, "axes") != NULL &&
                 tspec_collective_of(run->reader.program, &stand_in, &use)
             ? use.bytes
             : -1;
}

// ---- making ops ----

MlirNamedAttribute tspec_plugin_attr(tspec_plugin_run_t *run, const char *name,
                                     MlirAttribute value) {
  return mlirNamedAttributeGet(mlirIdentifierGet(run->context, tspec_string_ref(name)), value);
}

MlirValue tspec_plugin_insert(tspec_plugin_run_t *run, MlirOperation before,
                              const tspec_plugin_build_t *build) {
  const char *name = tspec_arena_printf(run->arena, "tspec.%s", build->name);
  MlirLocation location = build->location;
  if (build->because != NULL) {
    location = mlirLocationNameGet(run->context, tspec_string_ref(build->because), location);
  }
  MlirOperationState state = mlirOperationStateGet(tspec_string_ref(name), location);
  mlirOperationStateAddOperands(&state, build->noperands, build->operands);
  mlirOperationStateAddAttributes(&state, build->nattrs, build->attrs);
  MlirType type = tspec_plugin_written_type(run, build->type, build->sharding);
  mlirOperationStateAddResults(&state, 1, &type);
  MlirOperation op = mlirOperationCreate(&state);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, op);
  tspec_plugin_describe_result(run, op, 0, build->type, build->sharding);
  return mlirOperationGetResult(op, 0);
}

// ---- messages ----

typedef void (*report_fn_t)(tspec_diag_t *diag, tspec_range_t range, const char *format, ...);

static void report(tspec_plugin_run_t *run, MlirLocation location, report_fn_t diag_report,
                   const char *format, va_list args) {
  const char *because = NULL;
  const char *text = tspec_arena_vprintf(run->arena, format, args);
  diag_report(run->diag, tspec_read_range(&run->reader, location, &because), "%s", text);
}

void tspec_plugin_error(tspec_plugin_run_t *run, MlirLocation location, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(run, location, tspec_diag_error, format, args);
  va_end(args);
}

void tspec_plugin_warning(tspec_plugin_run_t *run, MlirLocation location, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(run, location, tspec_diag_warning, format, args);
  va_end(args);
}

void tspec_plugin_note(tspec_plugin_run_t *run, MlirLocation location, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(run, location, tspec_diag_note, format, args);
  va_end(args);
}

const char *tspec_plugin_place(tspec_plugin_run_t *run, MlirLocation location) {
  const char *because = NULL;
  return tspec_range_brief(run->diag->sources, tspec_read_range(&run->reader, location, &because));
}
