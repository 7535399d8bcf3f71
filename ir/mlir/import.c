#include "ir/mlir/import.h"

#include <string.h>

#include "ir/mlir/context.h"
#include "ir/mlir/guard.h"
#include "ir/mlir/import_op.h"
#include "ir/mlir/kernels.h"
#include "ir/mlir/names.h"
#include "ir/mlir/reader.h"

// ---- attributes of module-level ops and of slots ----

/// Something with named attributes: an op, or the dictionary of an argument or result.
typedef struct holder_t {
  tspec_reader_t *reader;
  MlirOperation op;         ///< null: `dictionary`
  MlirAttribute dictionary; ///< may be null: empty
  const char *owner;
  tspec_range_t range;
} holder_t;

static MlirAttribute find(const holder_t *holder, const char *name) {
  if (!mlirOperationIsNull(holder->op)) {
    return mlirOperationGetAttributeByName(holder->op, tspec_string_ref(name));
  }
  return mlirAttributeIsNull(holder->dictionary)
             ? holder->dictionary
             : mlirDictionaryAttrGetElementByName(holder->dictionary, tspec_string_ref(name));
}

static tspec_subject_t subject_of(const holder_t *holder, const char *name) {
  return (tspec_subject_t){holder->owner, name, holder->range};
}

/// The attribute, or a null one after reporting that it is missing.
static MlirAttribute need(const holder_t *holder, const char *name) {
  MlirAttribute attr = find(holder, name);
  if (mlirAttributeIsNull(attr)) {
    tspec_diag_error(holder->reader->diag, holder->range, "%s has no attribute '%s'", holder->owner,
                     name);
  }
  return attr;
}

static bool need_string(const holder_t *holder, const char *name, const char **out_text) {
  MlirAttribute attr = need(holder, name);
  tspec_subject_t subject = subject_of(holder, name);
  return !mlirAttributeIsNull(attr) && tspec_read_string(holder->reader, &subject, attr, out_text);
}

/// Leaves `out_text` as it is if there is no such attribute.
static bool maybe_string(const holder_t *holder, const char *name, const char **out_text) {
  MlirAttribute attr = find(holder, name);
  tspec_subject_t subject = subject_of(holder, name);
  return mlirAttributeIsNull(attr) || tspec_read_string(holder->reader, &subject, attr, out_text);
}

static bool maybe_int(const holder_t *holder, const char *name, int64_t *out_number) {
  MlirAttribute attr = find(holder, name);
  tspec_subject_t subject = subject_of(holder, name);
  return mlirAttributeIsNull(attr) || tspec_read_int(holder->reader, &subject, attr, out_number);
}

static bool maybe_sharding(const holder_t *holder, const char *name, int rank,
                           const tspec_sharding_t **out_sharding) {
  MlirAttribute attr = find(holder, name);
  tspec_subject_t subject = subject_of(holder, name);
  return mlirAttributeIsNull(attr) ||
         tspec_read_sharding(holder->reader, &subject, attr, rank, out_sharding);
}

static bool has_unit(const holder_t *holder, const char *name) {
  return !mlirAttributeIsNull(find(holder, name));
}

static bool is_among(const char *name, const char *const *names) {
  for (; *names != NULL; names++) {
    if (strcmp(name, *names) == 0) {
      return true;
    }
  }
  return false;
}

/// Reports attributes that are not among `known` (ends with NULL): nothing is dropped in silence.
static bool check_known(const holder_t *holder, const char *const *known) {
  bool is_op = !mlirOperationIsNull(holder->op);
  intptr_t count = is_op ? mlirOperationGetNumAttributes(holder->op)
                   : mlirAttributeIsNull(holder->dictionary)
                       ? 0
                       : mlirDictionaryAttrGetNumElements(holder->dictionary);
  bool ok = true;
  for (intptr_t i = 0; i < count; i++) {
    MlirNamedAttribute named = is_op ? mlirOperationGetAttribute(holder->op, i)
                                     : mlirDictionaryAttrGetElement(holder->dictionary, i);
    const char *name = tspec_read_text(holder->reader, mlirIdentifierStr(named.name));
    if (!is_among(name, known)) {
      tspec_diag_error(holder->reader->diag, holder->range, "%s has no attribute '%s'",
                       holder->owner, name);
      ok = false;
    }
  }
  return ok;
}

static holder_t hold_op(tspec_reader_t *reader, MlirOperation op) {
  const char *because = NULL;
  holder_t holder = {
      .reader = reader,
      .op = op,
      .owner = tspec_arena_printf(reader->arena, "'%s'", tspec_read_op_name(reader, op)),
      .range = tspec_read_range(reader, mlirOperationGetLocation(op), &because),
  };
  return holder;
}

/// Index of a word in a list that ends with NULL, -1 after reporting.
static int word_index(const holder_t *holder, const char *name, const char *word,
                      const char *const *words) {
  tspec_buf_t list = {0};
  int found = -1;
  for (int i = 0; words[i] != NULL; i++) {
    tspec_buf_printf(&list, "%s'%s'", i > 0 ? ", " : "", words[i]);
    if (strcmp(words[i], word) == 0) {
      found = i;
    }
  }
  if (found < 0) {
    tspec_diag_error(holder->reader->diag, holder->range,
                     "attribute '%s' of %s wants one of %s, got '%s'", name, holder->owner,
                     tspec_buf_get(&list), word);
  }
  tspec_buf_deinit(&list);
  return found;
}

// ---- module-level ops ----

static bool import_mesh(tspec_reader_t *reader, MlirOperation op) {
  static const char *const kKnown[] = {"axes", "sizes", "bytes_per_second", NULL};
  holder_t holder = hold_op(reader, op);
  if (reader->program->mesh.naxes > 0) {
    tspec_diag_error(reader->diag, holder.range, "the module has two meshes");
    return false;
  }
  int naxes = 0;
  int64_t nsizes = 0;
  int64_t nspeeds = 0;
  const char *const *names = NULL;
  const int64_t *sizes = NULL;
  const double *speeds = NULL;
  MlirAttribute axes = need(&holder, "axes");
  MlirAttribute extents = need(&holder, "sizes");
  MlirAttribute rates = find(&holder, "bytes_per_second");
  tspec_subject_t subject = subject_of(&holder, "axes");
  tspec_subject_t sizes_subject = subject_of(&holder, "sizes");
  tspec_subject_t rates_subject = subject_of(&holder, "bytes_per_second");
  if (!check_known(&holder, kKnown) || mlirAttributeIsNull(axes) || mlirAttributeIsNull(extents) ||
      !tspec_read_strings(reader, &subject, axes, &naxes, &names) ||
      !tspec_read_ints(reader, &sizes_subject, extents, &nsizes, &sizes) ||
      (!mlirAttributeIsNull(rates) &&
       !tspec_read_floats(reader, &rates_subject, rates, &nspeeds, &speeds))) {
    return false;
  }
  if (nsizes != naxes || (nspeeds != 0 && nspeeds != naxes)) {
    tspec_diag_error(reader->diag, holder.range, "the mesh has %d axes, but %d sizes", naxes,
                     (int)(nsizes != naxes ? nsizes : nspeeds));
    return false;
  }
  tspec_mesh_axis_t *made = TSPEC_ARENA_NEW(reader->arena, tspec_mesh_axis_t, naxes);
  for (int i = 0; i < naxes; i++) {
    made[i] = (tspec_mesh_axis_t){names[i], sizes[i], speeds == NULL ? 0 : speeds[i]};
    tspec_mesh_t before = {i, made};
    if (sizes[i] < 1 || tspec_mesh_find(&before, names[i]) >= 0) {
      tspec_diag_error(reader->diag, holder.range,
                       sizes[i] < 1 ? "mesh axis '%s' is empty" : "mesh axis '%s' stands twice",
                       names[i]);
      return false;
    }
  }
  reader->program->mesh = (tspec_mesh_t){naxes, made};
  if (!tspec_mesh_fits(&reader->program->mesh)) {
    tspec_diag_error(reader->diag, holder.range, "the mesh has more than 2^31 - 1 ranks");
    return false;
  }
  return true;
}

typedef TSPEC_VEC(tspec_param_t) params_t;
typedef TSPEC_VEC(tspec_promise_t) promises_t;

static bool import_param(tspec_reader_t *reader, MlirOperation op, params_t *params) {
  static const char *const kKnown[] = {"path", "type",      "state",     "sharding",
                                       "init", "init_args", "init_text", NULL};
  static const char *const kInits[] = {[TSPEC_INIT_FILL] = "fill",
                                       [TSPEC_INIT_NORMAL] = "normal",
                                       [TSPEC_INIT_TRUNCATED_NORMAL] = "truncated_normal",
                                       [TSPEC_INIT_UNIFORM] = "uniform",
                                       NULL};
  holder_t holder = hold_op(reader, op);
  tspec_param_t param = {.is_state = has_unit(&holder, "state"), .range = holder.range};
  tspec_subject_t type_subject = subject_of(&holder, "type");
  tspec_subject_t args_subject = subject_of(&holder, "init_args");
  MlirAttribute type = need(&holder, "type");
  MlirAttribute args = need(&holder, "init_args");
  const char *init = NULL;
  int64_t nargs = 0;
  const double *numbers = NULL;
  if (!check_known(&holder, kKnown) || mlirAttributeIsNull(type) || mlirAttributeIsNull(args) ||
      !need_string(&holder, "path", &param.path) ||
      !tspec_read_type_attr(reader, &type_subject, type, &param.type) ||
      !maybe_sharding(&holder, "sharding", param.type.rank, &param.sharding) ||
      !need_string(&holder, "init", &init) ||
      !tspec_read_floats(reader, &args_subject, args, &nargs, &numbers) ||
      !maybe_string(&holder, "init_text", &param.init_text)) {
    return false;
  }
  int kind = word_index(&holder, "init", init, kInits);
  if (kind < 0 || nargs != 2) {
    if (kind >= 0) {
      tspec_read_mismatch(reader, &args_subject, args, "two numbers");
    }
    return false;
  }
  param.init = (tspec_init_kind_t)kind;
  memcpy(param.init_args, numbers, sizeof param.init_args);
  TSPEC_VEC_PUSH(reader->arena, params, param);
  return true;
}

static bool import_promise(tspec_reader_t *reader, MlirOperation op, promises_t *promises) {
  static const char *const kKnown[] = {"entry", "what", "compare",   "value",
                                       "over",  "text", "warn_only", NULL};
  static const char *const kCompare[] = {"==", "<=", "<", ">=", ">", NULL};
  holder_t holder = hold_op(reader, op);
  tspec_promise_t promise = {.warn_only = has_unit(&holder, "warn_only"), .range = holder.range};
  tspec_subject_t value_subject = subject_of(&holder, "value");
  tspec_subject_t over_subject = subject_of(&holder, "over");
  MlirAttribute value = need(&holder, "value");
  MlirAttribute over = find(&holder, "over");
  tspec_attr_t number;
  const char *const *names = NULL;
  if (!check_known(&holder, kKnown) || mlirAttributeIsNull(value) ||
      !need_string(&holder, "entry", &promise.entry) ||
      !need_string(&holder, "what", &promise.what) ||
      !need_string(&holder, "compare", &promise.compare) ||
      !tspec_read_attr(reader, &value_subject, value, TSPEC_ATTR_FLOAT, 0, &number) ||
      !maybe_string(&holder, "text", &promise.text) ||
      word_index(&holder, "compare", promise.compare, kCompare) < 0 ||
      (!mlirAttributeIsNull(over) &&
       !tspec_read_strings(reader, &over_subject, over, &promise.nover, &names))) {
    return false;
  }
  promise.value = number.f;
  promise.over = (const char **)names;
  TSPEC_VEC_PUSH(reader->arena, promises, promise);
  return true;
}

// ---- functions ----

static const char *const kSlots[] = {[TSPEC_SLOT_INPUT] = "input",
                                     [TSPEC_SLOT_PARAM] = "param",
                                     [TSPEC_SLOT_STATE] = "state",
                                     [TSPEC_SLOT_RESULT] = "result",
                                     NULL};

/// The attributes of argument or result `index` (`list`: arg_attrs or res_attrs).
static holder_t hold_slot(tspec_reader_t *reader, MlirOperation op, const char *list,
                          intptr_t index) {
  MlirAttribute all = mlirOperationGetAttributeByName(op, tspec_string_ref(list));
  holder_t holder = {.reader = reader, .dictionary = mlirAttributeGetNull()};
  if (!mlirAttributeIsNull(all) && mlirAttributeIsAArray(all) &&
      index < mlirArrayAttrGetNumElements(all)) {
    holder.dictionary = mlirArrayAttrGetElement(all, index);
  }
  return holder;
}

static bool read_slot(const holder_t *holder, tspec_slot_kind_t *out_kind, const char **out_name) {
  const char *word = NULL;
  if (!need_string(holder, TSPEC_NAME_KIND, &word) ||
      !need_string(holder, TSPEC_NAME_NAME, out_name)) {
    return false;
  }
  int kind = word_index(holder, TSPEC_NAME_KIND, word, kSlots);
  *out_kind = kind < 0 ? TSPEC_SLOT_INPUT : (tspec_slot_kind_t)kind;
  return kind >= 0;
}

static bool import_arg(tspec_reader_t *reader, MlirOperation op, tspec_func_t *func,
                       MlirValue argument, tspec_value_map_t *values) {
  static const char *const kKnown[] = {TSPEC_NAME_KIND,
                                       TSPEC_NAME_NAME,
                                       TSPEC_NAME_SHARDING,
                                       TSPEC_NAME_GLOBAL,
                                       TSPEC_NAME_VALUE,
                                       TSPEC_NAME_OFFSET,
                                       NULL};
  holder_t holder = hold_slot(reader, op, "arg_attrs", func->nargs);
  const char *because = NULL;
  holder.range = tspec_read_range(reader, mlirValueGetLocation(argument), &because);
  holder.owner = tspec_arena_printf(reader->arena, "argument %d of '%s'", func->nargs, func->name);
  tspec_slot_kind_t kind;
  const char *name = NULL;
  if (!check_known(&holder, kKnown) || !read_slot(&holder, &kind, &name)) {
    return false;
  }
  if (kind == TSPEC_SLOT_RESULT) {
    tspec_diag_error(reader->diag, holder.range, "%s cannot be a result", holder.owner);
    return false;
  }
  tspec_type_t type;
  tspec_subject_t subject = subject_of(&holder, TSPEC_NAME_GLOBAL);
  MlirAttribute global = find(&holder, TSPEC_NAME_GLOBAL);
  if (mlirAttributeIsNull(global)
          ? !tspec_read_type(reader, &subject, mlirValueGetType(argument), &type)
          : !tspec_read_type_attr(reader, &subject, global, &type)) {
    return false;
  }
  tspec_value_t *value = tspec_func_add_arg(reader->program, func, kind, name, type, holder.range);
  tspec_value_map_set(reader->arena, values, argument, value);
  MlirAttribute value_name = find(&holder, TSPEC_NAME_VALUE);
  if (!mlirAttributeIsNull(value_name) && mlirAttributeIsAUnit(value_name)) {
    value->name = NULL;
  } else if (!maybe_string(&holder, TSPEC_NAME_VALUE, &value->name)) {
    return false;
  }
  return maybe_sharding(&holder, TSPEC_NAME_SHARDING, type.rank, &value->sharding) &&
         maybe_int(&holder, TSPEC_NAME_OFFSET, &value->offset_bytes) &&
         tspec_import_check_type(reader, &subject, value, mlirValueGetType(argument));
}

static bool import_result(tspec_reader_t *reader, MlirOperation op, tspec_func_t *func,
                          tspec_value_t *value, tspec_result_t *result) {
  static const char *const kKnown[] = {TSPEC_NAME_KIND, TSPEC_NAME_NAME,  TSPEC_NAME_SHARDING,
                                       TSPEC_NAME_FREE, TSPEC_NAME_PLACE, NULL};
  holder_t holder = hold_slot(reader, op, "res_attrs", func->nresults);
  holder.range = func->range;
  holder.owner = tspec_arena_printf(reader->arena, "result %d of '%s'", func->nresults, func->name);
  *result = (tspec_result_t){.value = value, .is_free = has_unit(&holder, TSPEC_NAME_FREE)};
  MlirAttribute place = find(&holder, TSPEC_NAME_PLACE);
  if (!mlirAttributeIsNull(place) && mlirAttributeIsALocation(place)) {
    const char *because = NULL;
    result->range = tspec_read_range(reader, mlirLocationFromAttribute(place), &because);
    holder.range = result->range;
  } else if (!mlirAttributeIsNull(place)) {
    tspec_subject_t subject = subject_of(&holder, TSPEC_NAME_PLACE);
    tspec_read_mismatch(reader, &subject, place, "a location");
    return false;
  }
  return check_known(&holder, kKnown) && read_slot(&holder, &result->kind, &result->name) &&
         maybe_sharding(&holder, TSPEC_NAME_SHARDING, value->type.rank, &result->sharding);
}

/// The results, from the ops's return.
static bool import_return(tspec_reader_t *reader, MlirOperation op, MlirOperation terminator,
                          tspec_func_t *func, const tspec_value_map_t *values) {
  intptr_t count = mlirOperationGetNumOperands(terminator);
  func->results = TSPEC_ARENA_NEW(reader->arena, tspec_result_t, count);
  bool ok = true;
  for (intptr_t i = 0; i < count; i++) {
    tspec_value_t *value = tspec_value_map_get(values, mlirOperationGetOperand(terminator, i));
    if (value == NULL) {
      return false; // its op was refused
    }
    ok = import_result(reader, op, func, value, &func->results[func->nresults]) && ok;
    func->nresults++;
  }
  return ok;
}

/// The only block of a function's body, a null one after reporting.
static MlirBlock body_of(const holder_t *holder) {
  MlirRegion region = mlirOperationGetRegion(holder->op, 0);
  MlirBlock block = mlirRegionGetFirstBlock(region);
  if (mlirBlockIsNull(block)) {
    tspec_diag_error(holder->reader->diag, holder->range, "%s has no body", holder->owner);
  } else if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block))) {
    tspec_diag_error(holder->reader->diag, holder->range,
                     "%s has several blocks, wanted one without branches", holder->owner);
    return (MlirBlock){NULL};
  }
  return block;
}

static bool import_body(tspec_reader_t *reader, MlirOperation op, MlirBlock block,
                        tspec_func_t *func) {
  tspec_value_map_t values = {0};
  bool ok = true;
  intptr_t nargs = mlirBlockGetNumArguments(block);
  for (intptr_t i = 0; i < nargs; i++) {
    ok = import_arg(reader, op, func, mlirBlockGetArgument(block, i), &values) && ok;
    if (func->nargs != i + 1) {
      return false; // later arguments would be counted wrongly
    }
  }
  MlirOperation terminator = mlirBlockGetTerminator(block);
  MlirOperation inner = mlirBlockGetFirstOperation(block);
  for (; !mlirOperationIsNull(inner); inner = mlirOperationGetNextInBlock(inner)) {
    if (!mlirOperationEqual(inner, terminator)) {
      ok = tspec_import_op(reader, func, &values, inner) && ok;
    }
  }
  if (mlirOperationIsNull(terminator) ||
      strcmp(tspec_read_op_name(reader, terminator), "func.return") != 0) {
    tspec_diag_error(reader->diag, func->range, "'%s' does not end with 'func.return'", func->name);
    return false;
  }
  return import_return(reader, op, terminator, func, &values) && ok;
}

static bool import_func(tspec_reader_t *reader, MlirOperation op) {
  static const char *const kKnown[] = {"sym_name",  "function_type",  "arg_attrs",
                                       "res_attrs", TSPEC_NAME_ARENA, NULL};
  holder_t holder = hold_op(reader, op);
  const char *name = NULL;
  if (!need_string(&holder, "sym_name", &name)) {
    return false;
  }
  holder.owner = tspec_arena_printf(reader->arena, "'%s'", name);
  MlirBlock block = body_of(&holder);
  if (mlirBlockIsNull(block) || !check_known(&holder, kKnown)) {
    return false;
  }
  tspec_func_t *func = tspec_program_add_func(reader->program, name, holder.range);
  return maybe_int(&holder, TSPEC_NAME_ARENA, &func->arena_bytes) &&
         import_body(reader, op, block, func);
}

// ---- the module ----

static bool import_header(tspec_reader_t *reader, MlirModule module) {
  static const char *const kKnown[] = {TSPEC_NAME_LEVEL, TSPEC_NAME_NAME, "sym_name", NULL};
  static const char *const kLevels[] = {"global", "sharded", "local", "kernels", NULL};
  holder_t holder = hold_op(reader, mlirModuleGetOperation(module));
  holder.owner = "the module";
  const char *word = NULL;
  if (!check_known(&holder, kKnown) || !need_string(&holder, TSPEC_NAME_LEVEL, &word) ||
      !maybe_string(&holder, TSPEC_NAME_NAME, &reader->program->name)) {
    return false;
  }
  int level = word_index(&holder, TSPEC_NAME_LEVEL, word, kLevels);
  reader->program->level = level < 0 ? TSPEC_LEVEL_GLOBAL : (tspec_level_t)level;
  return level >= 0;
}

/// All module-level ops but the mesh, which comes first since shardings need it.
static bool import_ops(tspec_reader_t *reader, MlirBlock body) {
  params_t params = {0};
  promises_t promises = {0};
  bool ok = true;
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    const char *name = tspec_read_op_name(reader, op);
    if (strcmp(name, TSPEC_NAME_PARAM) == 0) {
      ok = import_param(reader, op, &params) && ok;
    } else if (strcmp(name, TSPEC_NAME_EXPECT) == 0) {
      ok = import_promise(reader, op, &promises) && ok;
    } else if (strcmp(name, "func.func") == 0 && !tspec_kernels_owns(op)) {
      ok = import_func(reader, op) && ok;
    } else if (strcmp(name, TSPEC_NAME_MESH) != 0 && !tspec_kernels_owns(op)) {
      const char *because = NULL;
      tspec_range_t range = tspec_read_range(reader, mlirOperationGetLocation(op), &because);
      tspec_diag_error(reader->diag, range, "'%s' does not belong into a module of tspec", name);
      ok = false;
    }
  }
  reader->program->params = params.items;
  reader->program->nparams = (int)params.count;
  reader->program->promises = promises.items;
  reader->program->npromises = (int)promises.count;
  return ok;
}

/// `file`: the module's text, or 0.
static tspec_program_t *import_module(MlirModule module, uint32_t file, tspec_arena_t *arena,
                                      tspec_diag_t *diag) {
  tspec_reader_t reader = {.program = tspec_program_create(arena, "program"),
                           .arena = arena,
                           .file = file,
                           .diag = diag};
  if (!import_header(&reader, module)) {
    return NULL;
  }
  MlirBlock body = mlirModuleGetBody(module);
  MlirOperation op = mlirBlockGetFirstOperation(body);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (strcmp(tspec_read_op_name(&reader, op), TSPEC_NAME_MESH) == 0 &&
        !import_mesh(&reader, op)) {
      return NULL;
    }
  }
  bool ok = import_ops(&reader, body);
  ok = tspec_kernels_import(reader.program, module, diag) && ok;
  return ok ? reader.program : NULL;
}

tspec_program_t *tspec_program_import(MlirModule module, tspec_arena_t *arena, tspec_diag_t *diag) {
  return import_module(module, 0, arena, diag);
}

tspec_program_t *tspec_program_import_file(MlirContext context, uint32_t file, tspec_arena_t *arena,
                                           tspec_diag_t *diag) {
  const tspec_source_t *source = tspec_sources_get(diag->sources, file);
  int nerrors = diag->nerrors;
  if (!tspec_mlir_guard(file, diag)) {
    return NULL;
  }
  MlirOperation op = mlirOperationCreateParse(
      context, mlirStringRefCreate(source->text, source->length), tspec_string_ref(source->path));
  if (mlirOperationIsNull(op)) {
    if (diag->nerrors == nerrors) {
      tspec_diag_error(diag, (tspec_range_t){.file = file}, "no module of tspec");
    }
    return NULL;
  }
  MlirModule module = mlirModuleFromOperation(op);
  tspec_program_t *program = NULL;
  if (mlirModuleIsNull(module)) {
    const char *because = NULL;
    tspec_range_t range = tspec_location_range(mlirOperationGetLocation(op), diag->sources,
                                               diag->sources->arena, &because);
    tspec_diag_error(diag, range, "the file holds no module");
    mlirOperationDestroy(op);
    return NULL;
  }
  program = import_module(module, file, arena, diag);
  mlirModuleDestroy(module);
  return program;
}
