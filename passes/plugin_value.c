#include "passes/plugin_value.h"

#include <string.h>

#include "ir/mlir/context.h"
#include "ir/mlir/names.h"

/// Where a value's attributes stand: result `index` of `op`, or argument `index` of the entry `op`.
typedef struct site_t {
  MlirOperation op;
  intptr_t index;
  bool is_arg;
} site_t;

static MlirAttribute attr_of(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, tspec_string_ref(name));
}

static bool is_named(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), tspec_string_ref(name));
}

/// The value behind ops that only adapt types.
static MlirValue behind(MlirValue value) {
  while (mlirValueIsAOpResult(value)) {
    MlirOperation op = mlirOpResultGetOwner(value);
    if (!is_named(op, TSPEC_NAME_TO_ANY) && !is_named(op, TSPEC_NAME_FROM_ANY)) {
      break;
    }
    value = mlirOperationGetOperand(op, 0);
  }
  return value;
}

static site_t site_of(MlirValue value) {
  value = behind(value);
  if (mlirValueIsAOpResult(value)) {
    return (site_t){mlirOpResultGetOwner(value), mlirOpResultGetResultNumber(value), false};
  }
  MlirBlock block = mlirBlockArgumentGetOwner(value);
  return (site_t){mlirBlockGetParentOperation(block), mlirBlockArgumentGetArgNumber(value), true};
}

/// Element `index` of a list; null if there is none, or it is `unit`.
static MlirAttribute element_of(MlirOperation op, const char *list, intptr_t index) {
  MlirAttribute all = attr_of(op, list);
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) ||
      index >= mlirArrayAttrGetNumElements(all)) {
    return mlirAttributeGetNull();
  }
  MlirAttribute element = mlirArrayAttrGetElement(all, index);
  return mlirAttributeIsAUnit(element) ? mlirAttributeGetNull() : element;
}

/// What is said of a value: in the list `of_result` of its op, or under `of_arg` of its argument.
static MlirAttribute said_of(site_t site, const char *of_result, const char *of_arg) {
  if (!site.is_arg) {
    return element_of(site.op, of_result, site.index);
  }
  MlirAttribute attrs = element_of(site.op, "arg_attrs", site.index);
  return mlirAttributeIsNull(attrs)
             ? attrs
             : mlirDictionaryAttrGetElementByName(attrs, tspec_string_ref(of_arg));
}

static const char *text_of(tspec_plugin_run_t *run, MlirAttribute attr) {
  return mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr)
             ? NULL
             : tspec_read_text(&run->reader, mlirStringAttrGetValue(attr));
}

static tspec_range_t range_of(tspec_plugin_run_t *run, MlirValue value) {
  const char *because = NULL;
  return tspec_read_range(&run->reader, mlirValueGetLocation(value), &because);
}

static tspec_subject_t subject_of(tspec_plugin_run_t *run, MlirValue value, const char *name) {
  const char *path = tspec_plugin_value_name(run, value);
  return (tspec_subject_t){path == NULL ? "a value" : tspec_arena_printf(run->arena, "'%s'", path),
                           name, range_of(run, value)};
}

// ---- reading ----

const char *tspec_plugin_value_name(tspec_plugin_run_t *run, MlirValue value) {
  site_t site = site_of(value);
  return text_of(run, said_of(site, TSPEC_NAME_NAMES, TSPEC_NAME_NAME));
}

/// "input", "param", "state", or NULL for what is no argument.
static const char *slot_of(tspec_plugin_run_t *run, MlirValue value) {
  site_t site = site_of(value);
  return site.is_arg ? text_of(run, said_of(site, TSPEC_NAME_NAMES, TSPEC_NAME_KIND)) : NULL;
}

bool tspec_plugin_is_input(tspec_plugin_run_t *run, MlirValue value) {
  const char *slot = slot_of(run, value);
  return slot != NULL && strcmp(slot, "input") == 0;
}

bool tspec_plugin_is_param(tspec_plugin_run_t *run, MlirValue value) {
  const char *slot = slot_of(run, value);
  return slot != NULL && strcmp(slot, "input") != 0;
}

/// The type as it is written, through from_any.
static MlirType type_of(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)) && !mlirOpOperandIsNull(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (is_named(user, TSPEC_NAME_FROM_ANY)) {
      return mlirValueGetType(mlirOperationGetResult(user, 0));
    }
  }
  return mlirValueGetType(value);
}

bool tspec_plugin_get_type(tspec_plugin_run_t *run, MlirValue value, tspec_type_t *out_type) {
  MlirAttribute whole = said_of(site_of(value), TSPEC_NAME_GLOBALS, TSPEC_NAME_GLOBAL);
  tspec_subject_t subject = subject_of(run, value, TSPEC_NAME_GLOBAL);
  return mlirAttributeIsNull(whole)
             ? tspec_read_type(&run->reader, &subject, type_of(behind(value)), out_type)
             : tspec_read_type_attr(&run->reader, &subject, whole, out_type);
}

bool tspec_plugin_get_sharding(tspec_plugin_run_t *run, MlirValue value,
                               const tspec_sharding_t **out_sharding) {
  MlirAttribute attr = said_of(site_of(value), TSPEC_NAME_SHARDINGS, TSPEC_NAME_SHARDING);
  tspec_subject_t subject = subject_of(run, value, TSPEC_NAME_SHARDING);
  tspec_type_t type;
  *out_sharding = NULL;
  return mlirAttributeIsNull(attr) ||
         (tspec_plugin_get_type(run, value, &type) &&
          tspec_read_sharding(&run->reader, &subject, attr, type.rank, out_sharding));
}

bool tspec_plugin_get_block_type(tspec_plugin_run_t *run, MlirValue value, int64_t rank,
                                 tspec_type_t *out_type) {
  const tspec_sharding_t *sharding = NULL;
  if (!tspec_plugin_get_type(run, value, out_type) ||
      !tspec_plugin_get_sharding(run, value, &sharding)) {
    return false;
  }
  if (sharding == NULL) {
    return true;
  }
  tspec_block_t *blocks = TSPEC_ARENA_NEW(run->arena, tspec_block_t, out_type->rank);
  int64_t *dims = TSPEC_ARENA_NEW(run->arena, int64_t, out_type->rank);
  tspec_sharding_blocks(tspec_plugin_mesh(run), sharding, *out_type, rank, blocks);
  for (int i = 0; i < out_type->rank; i++) {
    dims[i] = blocks[i].end - blocks[i].begin;
  }
  *out_type = tspec_type_make(run->arena, out_type->dtype, out_type->rank, dims);
  return true;
}

const tspec_sharding_t *tspec_plugin_split_dim(tspec_plugin_run_t *run, MlirValue value, int dim,
                                               const char *axis) {
  const tspec_mesh_t *mesh = tspec_plugin_mesh(run);
  tspec_range_t range = range_of(run, value);
  tspec_type_t type;
  int index = tspec_mesh_find(mesh, axis);
  if (!tspec_plugin_get_type(run, value, &type)) {
    return NULL;
  }
  if (index < 0 || dim < 0 || dim >= type.rank) {
    tspec_diag_error(run->diag, range, "dim %d of %s cannot be split over '%s': %s", dim,
                     tspec_type_print(run->arena, type), axis,
                     index < 0 ? "the mesh has no such axis" : "it has no such dim");
    return NULL;
  }
  tspec_axis_t *piece = TSPEC_ARENA_NEW(run->arena, tspec_axis_t, 1);
  *piece = tspec_axis_full(mesh, index);
  tspec_dim_t *dims = TSPEC_ARENA_NEW(run->arena, tspec_dim_t, type.rank);
  for (int i = 0; i < type.rank; i++) {
    dims[i] = i == dim ? (tspec_dim_t){.naxes = 1, .axes = piece} : (tspec_dim_t){.open = true};
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(run->arena, tspec_sharding_t, 1);
  *sharding = (tspec_sharding_t){.rank = type.rank, .dims = dims};
  return sharding;
}

// ---- writing ----

static MlirAttribute make_sharding(tspec_plugin_run_t *run, const tspec_sharding_t *sharding) {
  const char *text =
      tspec_arena_printf(run->arena, "#tspec.sharding<\"%s\">",
                         tspec_sharding_print(run->arena, tspec_plugin_mesh(run), sharding));
  MlirAttribute attr = mlirAttributeParseGet(run->context, tspec_string_ref(text));
  TSPEC_CHECK(!mlirAttributeIsNull(attr), "MLIR refuses %s", text);
  return attr;
}

static MlirType make_type(tspec_plugin_run_t *run, tspec_type_t type) {
  MlirType element =
      mlirTypeParseGet(run->context, tspec_string_ref(tspec_dtype_mlir_name(type.dtype)));
  return mlirRankedTensorTypeGet(type.rank, type.dims, element, mlirAttributeGetNull());
}

MlirType tspec_plugin_written_type(tspec_plugin_run_t *run, tspec_type_t type,
                                   const tspec_sharding_t *sharding) {
  bool whole = run->reader.program->level < TSPEC_LEVEL_LOCAL || sharding == NULL;
  return make_type(run, whole ? type : tspec_sharding_local_type(run->arena, sharding, type));
}

/// The whole type where it is not the written one, else null.
static MlirAttribute make_global(tspec_plugin_run_t *run, tspec_type_t type,
                                 const tspec_sharding_t *sharding) {
  MlirType whole = make_type(run, type);
  return mlirTypeEqual(whole, tspec_plugin_written_type(run, type, sharding))
             ? mlirAttributeGetNull()
             : mlirTypeAttrGet(whole);
}

/// Sets element `index` of the list `name`, one per result; null: `unit`.
static void set_element(tspec_plugin_run_t *run, MlirOperation op, const char *name, intptr_t index,
                        MlirAttribute value) {
  intptr_t count = mlirOperationGetNumResults(op);
  MlirAttribute *items = TSPEC_ARENA_NEW(run->arena, MlirAttribute, count);
  bool any = false;
  for (intptr_t i = 0; i < count; i++) {
    items[i] = i == index ? value : element_of(op, name, i);
    any = any || !mlirAttributeIsNull(items[i]);
    items[i] = mlirAttributeIsNull(items[i]) ? mlirUnitAttrGet(run->context) : items[i];
  }
  if (any) {
    mlirOperationSetAttributeByName(op, tspec_string_ref(name),
                                    mlirArrayAttrGet(run->context, count, items));
  } else {
    mlirOperationRemoveAttributeByName(op, tspec_string_ref(name));
  }
}

void tspec_plugin_describe_result(tspec_plugin_run_t *run, MlirOperation op, intptr_t index,
                                  tspec_type_t type, const tspec_sharding_t *sharding) {
  MlirAttribute attr = sharding == NULL ? mlirAttributeGetNull() : make_sharding(run, sharding);
  set_element(run, op, TSPEC_NAME_SHARDINGS, index, attr);
  set_element(run, op, TSPEC_NAME_GLOBALS, index, make_global(run, type, sharding));
}

/// Sets or (null) drops entry `name` of dictionary `index` in a function's `list`.
static void set_slot(tspec_plugin_run_t *run, MlirOperation func, const char *list, intptr_t index,
                     const char *name, MlirAttribute value) {
  MlirAttribute all = attr_of(func, list);
  intptr_t count = mlirArrayAttrGetNumElements(all);
  MlirAttribute *items = TSPEC_ARENA_NEW(run->arena, MlirAttribute, count);
  for (intptr_t i = 0; i < count; i++) {
    items[i] = mlirArrayAttrGetElement(all, i);
  }
  intptr_t nattrs = mlirDictionaryAttrGetNumElements(items[index]);
  MlirNamedAttribute *attrs = TSPEC_ARENA_NEW(run->arena, MlirNamedAttribute, nattrs + 1);
  intptr_t kept = 0;
  for (intptr_t i = 0; i < nattrs; i++) {
    MlirNamedAttribute attr = mlirDictionaryAttrGetElement(items[index], i);
    if (!mlirStringRefEqual(mlirIdentifierStr(attr.name), tspec_string_ref(name))) {
      attrs[kept++] = attr;
    }
  }
  if (!mlirAttributeIsNull(value)) {
    attrs[kept++] = tspec_plugin_attr(run, name, value);
  }
  items[index] = mlirDictionaryAttrGet(run->context, kept, attrs);
  mlirOperationSetAttributeByName(func, tspec_string_ref(list),
                                  mlirArrayAttrGet(run->context, count, items));
}

/// Makes the function's type follow its arguments' and results'.
static void refresh_type(tspec_plugin_run_t *run, MlirOperation func, MlirBlock body) {
  MlirOperation end = mlirBlockGetTerminator(body);
  intptr_t nins = mlirBlockGetNumArguments(body);
  intptr_t nouts = mlirOperationGetNumOperands(end);
  MlirType *ins = TSPEC_ARENA_NEW(run->arena, MlirType, nins);
  MlirType *outs = TSPEC_ARENA_NEW(run->arena, MlirType, nouts);
  for (intptr_t i = 0; i < nins; i++) {
    ins[i] = mlirValueGetType(mlirBlockGetArgument(body, i));
  }
  for (intptr_t i = 0; i < nouts; i++) {
    outs[i] = mlirValueGetType(mlirOperationGetOperand(end, i));
  }
  MlirType type = mlirFunctionTypeGet(run->context, nins, ins, nouts, outs);
  mlirOperationSetAttributeByName(func, tspec_string_ref("function_type"), mlirTypeAttrGet(type));
}

/// What follows from a value's new sharding in its function: the written type, results' shardings.
static void spread(tspec_plugin_run_t *run, MlirBlock body, MlirValue value, tspec_type_t type,
                   const tspec_sharding_t *sharding) {
  MlirOperation func = mlirBlockGetParentOperation(body);
  if (mlirTypeIsARankedTensor(mlirValueGetType(value))) {
    mlirValueSetType(value, tspec_plugin_written_type(run, type, sharding));
  }
  MlirOperation end = mlirBlockGetTerminator(body);
  bool holds = run->reader.program->level >= TSPEC_LEVEL_SHARDED;
  for (intptr_t i = 0; holds && i < mlirOperationGetNumOperands(end); i++) {
    if (mlirValueEqual(behind(mlirOperationGetOperand(end, i)), value)) {
      set_slot(run, func, "res_attrs", i, TSPEC_NAME_SHARDING, make_sharding(run, sharding));
    }
  }
  refresh_type(run, func, body);
}

static void set_arg(tspec_plugin_run_t *run, MlirOperation func, intptr_t index, tspec_type_t type,
                    const tspec_sharding_t *sharding) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  set_slot(run, func, "arg_attrs", index, TSPEC_NAME_SHARDING, make_sharding(run, sharding));
  set_slot(run, func, "arg_attrs", index, TSPEC_NAME_GLOBAL, make_global(run, type, sharding));
  spread(run, body, mlirBlockGetArgument(body, index), type, sharding);
}

/// A parameter in all entries and where it is declared.
typedef struct param_t {
  const char *path;
  tspec_type_t type;
  const tspec_sharding_t *sharding;
} param_t;

static bool set_param_arg(tspec_plugin_run_t *run, const char *entry, MlirValue arg, void *user) {
  (void)entry;
  const param_t *param = user;
  const char *name = tspec_plugin_value_name(run, arg);
  if (tspec_plugin_is_param(run, arg) && name != NULL && strcmp(name, param->path) == 0) {
    site_t site = site_of(arg);
    set_arg(run, site.op, site.index, param->type, param->sharding);
  }
  return true;
}

static void set_param(tspec_plugin_run_t *run, const param_t *param) {
  MlirOperation op = mlirBlockGetFirstOperation(mlirModuleGetBody(run->module));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    const char *path = text_of(run, attr_of(op, "path"));
    if (is_named(op, TSPEC_NAME_PARAM) && path != NULL && strcmp(path, param->path) == 0) {
      mlirOperationSetAttributeByName(op, tspec_string_ref("sharding"),
                                      make_sharding(run, param->sharding));
    }
  }
  tspec_plugin_for_each_arg(run, set_param_arg, (void *)param);
}

bool tspec_plugin_set_sharding(tspec_plugin_run_t *run, MlirValue value,
                               const tspec_sharding_t *sharding) {
  tspec_subject_t subject = subject_of(run, value, TSPEC_NAME_SHARDING);
  tspec_type_t type;
  if (!tspec_plugin_get_type(run, value, &type)) {
    return false;
  }
  if (sharding->rank != type.rank) {
    tspec_diag_error(run->diag, subject.range, "the sharding of %s has %d entries, wanted %d",
                     subject.owner, sharding->rank, type.rank);
    return false;
  }
  if (!tspec_sharding_check(tspec_plugin_mesh(run), sharding, subject.owner, subject.range,
                            run->diag)) {
    return false;
  }
  site_t site = site_of(value);
  if (!site.is_arg) {
    tspec_plugin_describe_result(run, site.op, site.index, type, sharding);
    spread(run, mlirOperationGetBlock(site.op), behind(value), type, sharding);
  } else if (tspec_plugin_is_param(run, value)) {
    param_t param = {tspec_plugin_value_name(run, value), type, sharding};
    set_param(run, &param);
  } else {
    set_arg(run, site.op, site.index, type, sharding);
  }
  return true;
}
