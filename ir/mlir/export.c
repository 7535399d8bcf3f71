#include "ir/mlir/export.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Support.h>
#include <string.h>

#include "ir/base/str.h"
#include "ir/mlir/context.h"
#include "ir/mlir/kernels.h"
#include "ir/mlir/names.h"

typedef struct exporter_t {
  MlirContext context;
  const tspec_program_t *program;
  const tspec_sources_t *sources;
  tspec_arena_t *scratch;
  tspec_names_t shardings; ///< notation -> box of its MlirAttribute
  MlirValue *values;       ///< of the function at hand, by id
} exporter_t;

/// A growing list of named attributes.
typedef TSPEC_VEC(MlirNamedAttribute) attrs_t;

// ---- attributes ----

static void push(exporter_t *exporter, attrs_t *attrs, const char *name, MlirAttribute value) {
  MlirIdentifier id = mlirIdentifierGet(exporter->context, tspec_string_ref(name));
  TSPEC_VEC_PUSH(exporter->scratch, attrs, mlirNamedAttributeGet(id, value));
}

static MlirAttribute make_string(exporter_t *exporter, const char *text) {
  return mlirStringAttrGet(exporter->context, tspec_string_ref(text));
}

static void push_string(exporter_t *exporter, attrs_t *attrs, const char *name, const char *text) {
  push(exporter, attrs, name, make_string(exporter, text));
}

static void push_int(exporter_t *exporter, attrs_t *attrs, const char *name, int64_t number) {
  push(exporter, attrs, name,
       mlirIntegerAttrGet(mlirIntegerTypeGet(exporter->context, 64), number));
}

static void push_double(exporter_t *exporter, attrs_t *attrs, const char *name, double number) {
  push(exporter, attrs, name,
       mlirFloatAttrDoubleGet(exporter->context, mlirF64TypeGet(exporter->context), number));
}

static MlirAttribute make_sharding(exporter_t *exporter, const tspec_sharding_t *sharding) {
  const char *notation =
      tspec_sharding_print(exporter->scratch, &exporter->program->mesh, sharding);
  MlirAttribute *known = tspec_names_get(&exporter->shardings, notation);
  if (known == NULL) {
    const char *text = tspec_arena_printf(exporter->scratch, "#tspec.sharding<\"%s\">", notation);
    known = TSPEC_ARENA_NEW(exporter->scratch, MlirAttribute, 1);
    *known = mlirAttributeParseGet(exporter->context, tspec_string_ref(text));
    TSPEC_CHECK(!mlirAttributeIsNull(*known), "MLIR refuses %s", text);
    tspec_names_set(exporter->scratch, &exporter->shardings, notation, known);
  }
  return *known;
}

static MlirAttribute make_axes(exporter_t *exporter, const tspec_axis_t *axes, int64_t count) {
  MlirAttribute *items = TSPEC_ARENA_NEW(exporter->scratch, MlirAttribute, count);
  for (int64_t i = 0; i < count; i++) {
    items[i] = make_string(
        exporter, tspec_axes_print(exporter->scratch, &exporter->program->mesh, &axes[i], 1));
  }
  return mlirArrayAttrGet(exporter->context, count, items);
}

static MlirType make_dtype(exporter_t *exporter, tspec_dtype_t dtype) {
  return mlirTypeParseGet(exporter->context, tspec_string_ref(tspec_dtype_mlir_name(dtype)));
}

static MlirType make_type(exporter_t *exporter, tspec_type_t type) {
  return mlirRankedTensorTypeGet(type.rank, type.dims, make_dtype(exporter, type.dtype),
                                 mlirAttributeGetNull());
}

static MlirAttribute make_attr(exporter_t *exporter, const tspec_attr_t *attr) {
  MlirContext context = exporter->context;
  switch (attr->kind) {
  case TSPEC_ATTR_INT:
    return mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), attr->i);
  case TSPEC_ATTR_INTS:
    return mlirDenseI64ArrayGet(context, attr->count, attr->ints);
  case TSPEC_ATTR_FLOAT:
    return mlirFloatAttrDoubleGet(context, mlirF64TypeGet(context), attr->f);
  case TSPEC_ATTR_FLOATS:
    return mlirDenseF64ArrayGet(context, attr->count, attr->floats);
  case TSPEC_ATTR_STRING:
    return make_string(exporter, attr->string);
  case TSPEC_ATTR_DTYPE:
    return mlirTypeAttrGet(make_dtype(exporter, attr->dtype));
  case TSPEC_ATTR_REDUCE:
    return make_string(exporter, tspec_reduce_name(attr->reduce));
  case TSPEC_ATTR_AXES:
    return make_axes(exporter, attr->axes, attr->count);
  case TSPEC_ATTR_SHARDING:
    return make_sharding(exporter, attr->sharding);
  }
  TSPEC_CHECK(false, "attribute '%s' of unknown kind", attr->name);
  return mlirAttributeGetNull();
}

// ---- values ----

/// The MLIR type of a value: its block on rank 0 from `local` on.
static tspec_type_t written_type(exporter_t *exporter, const tspec_value_t *value) {
  if (exporter->program->level < TSPEC_LEVEL_LOCAL || value->sharding == NULL) {
    return value->type;
  }
  return tspec_sharding_local_type(exporter->scratch, value->sharding, value->type);
}

static bool same_range(tspec_range_t a, tspec_range_t b) {
  return a.file == b.file && a.line == b.line && a.col == b.col && a.end_line == b.end_line &&
         a.end_col == b.end_col;
}

static MlirAttribute make_place(exporter_t *exporter, tspec_range_t range) {
  return mlirLocationGetAttribute(
      tspec_location_make(exporter->context, exporter->sources, range, NULL));
}

/// What is said of one result of an op under `name`; a null attribute: nothing.
typedef MlirAttribute (*of_result_fn_t)(exporter_t *exporter, const tspec_value_t *value);

static MlirAttribute result_sharding(exporter_t *exporter, const tspec_value_t *value) {
  return value->sharding == NULL ? mlirAttributeGetNull()
                                 : make_sharding(exporter, value->sharding);
}

static MlirAttribute result_name(exporter_t *exporter, const tspec_value_t *value) {
  return value->name == NULL ? mlirAttributeGetNull() : make_string(exporter, value->name);
}

static MlirAttribute result_global(exporter_t *exporter, const tspec_value_t *value) {
  return tspec_type_equal(value->type, written_type(exporter, value))
             ? mlirAttributeGetNull()
             : mlirTypeAttrGet(make_type(exporter, value->type));
}

static MlirAttribute result_offset(exporter_t *exporter, const tspec_value_t *value) {
  return value->offset_bytes < 0
             ? mlirAttributeGetNull()
             : mlirIntegerAttrGet(mlirIntegerTypeGet(exporter->context, 64), value->offset_bytes);
}

static MlirAttribute result_place(exporter_t *exporter, const tspec_value_t *value) {
  return value->range.file == 0 || same_range(value->range, value->def->range)
             ? mlirAttributeGetNull()
             : make_place(exporter, value->range);
}

static void push_results(exporter_t *exporter, attrs_t *attrs, const tspec_op_t *op,
                         const char *name, of_result_fn_t of_result) {
  MlirAttribute *items = TSPEC_ARENA_NEW(exporter->scratch, MlirAttribute, op->nresults);
  bool any = false;
  for (int i = 0; i < op->nresults; i++) {
    items[i] = of_result(exporter, op->results[i]);
    if (mlirAttributeIsNull(items[i])) {
      items[i] = mlirUnitAttrGet(exporter->context);
    } else {
      any = true;
    }
  }
  if (any) {
    push(exporter, attrs, name, mlirArrayAttrGet(exporter->context, op->nresults, items));
  }
}

// ---- ops ----

static MlirOperation append_op(MlirBlock block, MlirOperationState *state, const attrs_t *attrs) {
  mlirOperationStateAddAttributes(state, (intptr_t)attrs->count, attrs->items);
  MlirOperation op = mlirOperationCreate(state);
  mlirBlockAppendOwnedOperation(block, op);
  return op;
}

/// `value` as a `type` by means of op `name` (to_any, from_any).
static MlirValue append_cast(MlirBlock block, MlirLocation location, const char *name,
                             MlirValue value, MlirType type) {
  MlirOperationState state = mlirOperationStateGet(tspec_string_ref(name), location);
  mlirOperationStateAddOperands(&state, 1, &value);
  mlirOperationStateAddResults(&state, 1, &type);
  attrs_t none = {0};
  return mlirOperationGetResult(append_op(block, &state, &none), 0);
}

static MlirType any_type(exporter_t *exporter) {
  return mlirTypeParseGet(exporter->context, tspec_string_ref("!tspec.any"));
}

static bool types_differ(const MlirType *types, int count) {
  for (int i = 1; i < count; i++) {
    if (!mlirTypeEqual(types[0], types[i])) {
      return true;
    }
  }
  return false;
}

static void push_foreign(exporter_t *exporter, attrs_t *attrs, const tspec_op_t *op) {
  MlirAttribute foreign = {op->foreign_attrs};
  intptr_t count = op->foreign_attrs == NULL ? 0 : mlirDictionaryAttrGetNumElements(foreign);
  for (intptr_t i = 0; i < count; i++) {
    TSPEC_VEC_PUSH(exporter->scratch, attrs, mlirDictionaryAttrGetElement(foreign, i));
  }
}

static void push_op_attrs(exporter_t *exporter, attrs_t *attrs, const tspec_op_t *op) {
  for (int i = 0; i < op->nattrs; i++) {
    push(exporter, attrs, op->attrs[i].name, make_attr(exporter, &op->attrs[i]));
  }
  push_results(exporter, attrs, op, TSPEC_NAME_SHARDINGS, result_sharding);
  push_results(exporter, attrs, op, TSPEC_NAME_NAMES, result_name);
  push_results(exporter, attrs, op, TSPEC_NAME_GLOBALS, result_global);
  push_results(exporter, attrs, op, TSPEC_NAME_OFFSETS, result_offset);
  push_results(exporter, attrs, op, TSPEC_NAME_PLACES, result_place);
  if (op->spelling != NULL) {
    push_string(exporter, attrs, TSPEC_NAME_SPELLING, op->spelling);
  }
  push_foreign(exporter, attrs, op);
}

/// Adds the operands to `state`, boxed where IRDL's variadic lists need one type.
static void add_operands(exporter_t *exporter, MlirBlock block, MlirOperationState *state,
                         const tspec_op_t *op) {
  MlirValue *operands = TSPEC_ARENA_NEW(exporter->scratch, MlirValue, op->noperands);
  MlirType *types = TSPEC_ARENA_NEW(exporter->scratch, MlirType, op->noperands);
  for (int i = 0; i < op->noperands; i++) {
    operands[i] = exporter->values[op->operands[i]->id];
    types[i] = mlirValueGetType(operands[i]);
  }
  if (tspec_op_info(op->kind)->noperands < 0 && types_differ(types, op->noperands)) {
    for (int i = 0; i < op->noperands; i++) {
      operands[i] =
          append_cast(block, state->location, TSPEC_NAME_TO_ANY, operands[i], any_type(exporter));
    }
  }
  mlirOperationStateAddOperands(state, op->noperands, operands);
}

static void export_op(exporter_t *exporter, MlirBlock block, const tspec_op_t *op) {
  MlirLocation location =
      tspec_location_make(exporter->context, exporter->sources, op->range, op->because);
  const tspec_op_info_t *info = tspec_op_info(op->kind);
  const char *name = tspec_arena_printf(exporter->scratch, "tspec.%s", info->name);
  MlirOperationState state = mlirOperationStateGet(tspec_string_ref(name), location);
  add_operands(exporter, block, &state, op);
  MlirType *types = TSPEC_ARENA_NEW(exporter->scratch, MlirType, op->nresults);
  MlirType *written = TSPEC_ARENA_NEW(exporter->scratch, MlirType, op->nresults);
  for (int i = 0; i < op->nresults; i++) {
    types[i] = make_type(exporter, written_type(exporter, op->results[i]));
    written[i] = types[i];
  }
  bool boxed = info->nresults < 0 && types_differ(types, op->nresults);
  for (int i = 0; boxed && i < op->nresults; i++) {
    written[i] = any_type(exporter);
  }
  mlirOperationStateAddResults(&state, op->nresults, written);
  attrs_t attrs = {0};
  push_op_attrs(exporter, &attrs, op);
  MlirOperation made = append_op(block, &state, &attrs);
  for (int i = 0; i < op->nresults; i++) {
    MlirValue value = mlirOperationGetResult(made, i);
    exporter->values[op->results[i]->id] =
        boxed ? append_cast(block, location, TSPEC_NAME_FROM_ANY, value, types[i]) : value;
  }
}

// ---- functions ----

static const char *slot_name(tspec_slot_kind_t kind) {
  static const char *const kNames[] = {
      [TSPEC_SLOT_INPUT] = "input",
      [TSPEC_SLOT_PARAM] = "param",
      [TSPEC_SLOT_STATE] = "state",
      [TSPEC_SLOT_RESULT] = "result",
  };
  return kNames[kind];
}

static MlirAttribute make_dictionary(exporter_t *exporter, const attrs_t *attrs) {
  return mlirDictionaryAttrGet(exporter->context, (intptr_t)attrs->count, attrs->items);
}

static MlirAttribute arg_attrs(exporter_t *exporter, const tspec_arg_t *arg) {
  const tspec_value_t *value = arg->value;
  attrs_t attrs = {0};
  push_string(exporter, &attrs, TSPEC_NAME_KIND, slot_name(arg->kind));
  push_string(exporter, &attrs, TSPEC_NAME_NAME, arg->name);
  if (value->sharding != NULL) {
    push(exporter, &attrs, TSPEC_NAME_SHARDING, make_sharding(exporter, value->sharding));
  }
  if (value->name == NULL) {
    push(exporter, &attrs, TSPEC_NAME_VALUE, mlirUnitAttrGet(exporter->context));
  } else if (strcmp(value->name, arg->name) != 0) {
    push_string(exporter, &attrs, TSPEC_NAME_VALUE, value->name);
  }
  MlirAttribute global = result_global(exporter, value);
  if (!mlirAttributeIsNull(global)) {
    push(exporter, &attrs, TSPEC_NAME_GLOBAL, global);
  }
  if (value->offset_bytes >= 0) {
    push_int(exporter, &attrs, TSPEC_NAME_OFFSET, value->offset_bytes);
  }
  return make_dictionary(exporter, &attrs);
}

static MlirAttribute result_attrs(exporter_t *exporter, const tspec_result_t *result) {
  attrs_t attrs = {0};
  push_string(exporter, &attrs, TSPEC_NAME_KIND, slot_name(result->kind));
  push_string(exporter, &attrs, TSPEC_NAME_NAME, result->name);
  if (result->sharding != NULL) {
    push(exporter, &attrs, TSPEC_NAME_SHARDING, make_sharding(exporter, result->sharding));
  }
  if (result->is_free) {
    push(exporter, &attrs, TSPEC_NAME_FREE, mlirUnitAttrGet(exporter->context));
  }
  if (result->range.file != 0) {
    push(exporter, &attrs, TSPEC_NAME_PLACE, make_place(exporter, result->range));
  }
  return make_dictionary(exporter, &attrs);
}

/// The body: arguments, ops, return.
static void fill_body(exporter_t *exporter, MlirBlock block, const tspec_func_t *func) {
  MlirContext context = exporter->context;
  for (int i = 0; i < func->nargs; i++) {
    const tspec_value_t *value = func->args[i].value;
    exporter->values[value->id] =
        mlirBlockAddArgument(block, make_type(exporter, written_type(exporter, value)),
                             tspec_location_make(context, exporter->sources, value->range, NULL));
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    export_op(exporter, block, op);
  }
  MlirOperationState state =
      mlirOperationStateGet(tspec_string_ref("func.return"),
                            tspec_location_make(context, exporter->sources, func->range, NULL));
  for (int i = 0; i < func->nresults; i++) {
    mlirOperationStateAddOperands(&state, 1, &exporter->values[func->results[i].value->id]);
  }
  attrs_t none = {0};
  append_op(block, &state, &none);
}

/// The function's type, from types that the body already has.
static MlirAttribute function_type(exporter_t *exporter, MlirBlock block,
                                   const tspec_func_t *func) {
  MlirType *ins = TSPEC_ARENA_NEW(exporter->scratch, MlirType, func->nargs);
  MlirType *outs = TSPEC_ARENA_NEW(exporter->scratch, MlirType, func->nresults);
  for (int i = 0; i < func->nargs; i++) {
    ins[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  }
  for (int i = 0; i < func->nresults; i++) {
    outs[i] = mlirValueGetType(exporter->values[func->results[i].value->id]);
  }
  return mlirTypeAttrGet(
      mlirFunctionTypeGet(exporter->context, func->nargs, ins, func->nresults, outs));
}

static void push_dictionaries(exporter_t *exporter, attrs_t *attrs, const char *name,
                              const MlirAttribute *items, int count) {
  if (count > 0) {
    push(exporter, attrs, name, mlirArrayAttrGet(exporter->context, count, items));
  }
}

static void export_func(exporter_t *exporter, MlirBlock module, tspec_func_t *func) {
  int nvalues = tspec_func_number(func);
  exporter->values = TSPEC_ARENA_NEW(exporter->scratch, MlirValue, nvalues);
  MlirRegion region = mlirRegionCreate();
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, block);
  fill_body(exporter, block, func);
  attrs_t attrs = {0};
  push_string(exporter, &attrs, "sym_name", func->name);
  push(exporter, &attrs, "function_type", function_type(exporter, block, func));
  MlirAttribute *args = TSPEC_ARENA_NEW(exporter->scratch, MlirAttribute, func->nargs);
  for (int i = 0; i < func->nargs; i++) {
    args[i] = arg_attrs(exporter, &func->args[i]);
  }
  push_dictionaries(exporter, &attrs, "arg_attrs", args, func->nargs);
  MlirAttribute *results = TSPEC_ARENA_NEW(exporter->scratch, MlirAttribute, func->nresults);
  for (int i = 0; i < func->nresults; i++) {
    results[i] = result_attrs(exporter, &func->results[i]);
  }
  push_dictionaries(exporter, &attrs, "res_attrs", results, func->nresults);
  if (func->arena_bytes > 0) {
    push_int(exporter, &attrs, TSPEC_NAME_ARENA, func->arena_bytes);
  }
  MlirOperationState state = mlirOperationStateGet(
      tspec_string_ref("func.func"),
      tspec_location_make(exporter->context, exporter->sources, func->range, NULL));
  mlirOperationStateAddOwnedRegions(&state, 1, &region);
  append_op(module, &state, &attrs);
}

// ---- the module ----

static void append_module_op(exporter_t *exporter, MlirBlock module, const char *name,
                             tspec_range_t range, const attrs_t *attrs) {
  MlirOperationState state =
      mlirOperationStateGet(tspec_string_ref(name),
                            tspec_location_make(exporter->context, exporter->sources, range, NULL));
  append_op(module, &state, attrs);
}

static void export_mesh(exporter_t *exporter, MlirBlock module) {
  const tspec_mesh_t *mesh = &exporter->program->mesh;
  if (mesh->naxes == 0) {
    return;
  }
  MlirAttribute *names = TSPEC_ARENA_NEW(exporter->scratch, MlirAttribute, mesh->naxes);
  int64_t *sizes = TSPEC_ARENA_NEW(exporter->scratch, int64_t, mesh->naxes);
  double *speeds = TSPEC_ARENA_NEW(exporter->scratch, double, mesh->naxes);
  bool any_speed = false;
  for (int i = 0; i < mesh->naxes; i++) {
    names[i] = make_string(exporter, mesh->axes[i].name);
    sizes[i] = mesh->axes[i].size;
    speeds[i] = mesh->axes[i].bytes_per_second;
    any_speed = any_speed || speeds[i] > 0;
  }
  attrs_t attrs = {0};
  push(exporter, &attrs, "axes", mlirArrayAttrGet(exporter->context, mesh->naxes, names));
  push(exporter, &attrs, "sizes", mlirDenseI64ArrayGet(exporter->context, mesh->naxes, sizes));
  if (any_speed) {
    push(exporter, &attrs, "bytes_per_second",
         mlirDenseF64ArrayGet(exporter->context, mesh->naxes, speeds));
  }
  append_module_op(exporter, module, TSPEC_NAME_MESH, (tspec_range_t){0}, &attrs);
}

static void export_param(exporter_t *exporter, MlirBlock module, const tspec_param_t *param) {
  static const char *const kInits[] = {
      [TSPEC_INIT_FILL] = "fill",
      [TSPEC_INIT_NORMAL] = "normal",
      [TSPEC_INIT_TRUNCATED_NORMAL] = "truncated_normal",
      [TSPEC_INIT_UNIFORM] = "uniform",
  };
  attrs_t attrs = {0};
  push_string(exporter, &attrs, "path", param->path);
  push(exporter, &attrs, "type", mlirTypeAttrGet(make_type(exporter, param->type)));
  if (param->is_state) {
    push(exporter, &attrs, "state", mlirUnitAttrGet(exporter->context));
  }
  if (param->sharding != NULL) {
    push(exporter, &attrs, "sharding", make_sharding(exporter, param->sharding));
  }
  push_string(exporter, &attrs, "init", kInits[param->init]);
  push(exporter, &attrs, "init_args", mlirDenseF64ArrayGet(exporter->context, 2, param->init_args));
  if (param->init_text != NULL) {
    push_string(exporter, &attrs, "init_text", param->init_text);
  }
  append_module_op(exporter, module, TSPEC_NAME_PARAM, param->range, &attrs);
}

static void export_promise(exporter_t *exporter, MlirBlock module, const tspec_promise_t *promise) {
  attrs_t attrs = {0};
  push_string(exporter, &attrs, "entry", promise->entry);
  push_string(exporter, &attrs, "what", promise->what);
  push_string(exporter, &attrs, "compare", promise->compare);
  push_double(exporter, &attrs, "value", promise->value);
  if (promise->nover > 0) {
    MlirAttribute *over = TSPEC_ARENA_NEW(exporter->scratch, MlirAttribute, promise->nover);
    for (int i = 0; i < promise->nover; i++) {
      over[i] = make_string(exporter, promise->over[i]);
    }
    push(exporter, &attrs, "over", mlirArrayAttrGet(exporter->context, promise->nover, over));
  }
  if (promise->text != NULL) {
    push_string(exporter, &attrs, "text", promise->text);
  }
  if (promise->warn_only) {
    push(exporter, &attrs, "warn_only", mlirUnitAttrGet(exporter->context));
  }
  append_module_op(exporter, module, TSPEC_NAME_EXPECT, promise->range, &attrs);
}

static void fill_module(exporter_t *exporter, MlirModule module) {
  const tspec_program_t *program = exporter->program;
  MlirOperation op = mlirModuleGetOperation(module);
  mlirOperationSetDiscardableAttributeByName(
      op, tspec_string_ref(TSPEC_NAME_LEVEL),
      make_string(exporter, tspec_level_name(program->level)));
  mlirOperationSetDiscardableAttributeByName(op, tspec_string_ref(TSPEC_NAME_NAME),
                                             make_string(exporter, program->name));
  MlirBlock body = mlirModuleGetBody(module);
  export_mesh(exporter, body);
  for (int i = 0; i < program->nparams; i++) {
    export_param(exporter, body, &program->params[i]);
  }
  for (int i = 0; i < program->npromises; i++) {
    export_promise(exporter, body, &program->promises[i]);
  }
  for (int i = 0; i < program->nfuncs; i++) {
    export_func(exporter, body, program->funcs[i]);
  }
}

MlirModule tspec_program_export(MlirContext context, tspec_program_t *program,
                                const tspec_sources_t *sources) {
  tspec_arena_t scratch;
  tspec_arena_init(&scratch);
  exporter_t exporter = {
      .context = context, .program = program, .sources = sources, .scratch = &scratch};
  MlirModule module = mlirModuleCreateEmpty(mlirLocationUnknownGet(context));
  fill_module(&exporter, module);
  if (!tspec_kernels_export(program, module)) {
    mlirModuleDestroy(module);
    module = (MlirModule){NULL};
  }
  tspec_arena_deinit(&scratch);
  return module;
}
