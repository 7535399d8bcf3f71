#include "ir/mlir/import_op.h"

#include <string.h>

#include "ir/mlir/context.h"
#include "ir/mlir/names.h"

// ---- values ----

static size_t slot_of(const tspec_value_map_t *map, const void *key) {
  uint64_t hash = (uint64_t)(uintptr_t)key * UINT64_C(0x9E3779B97F4A7C15);
  size_t slot = (size_t)(hash >> 20) & (map->nslots - 1);
  while (map->slots[slot].key != NULL && map->slots[slot].key != key) {
    slot = (slot + 1) & (map->nslots - 1);
  }
  return slot;
}

static void grow(tspec_arena_t *arena, tspec_value_map_t *map) {
  tspec_value_map_t bigger = {.nslots = map->nslots == 0 ? 64 : map->nslots * 2,
                              .count = map->count};
  bigger.slots = TSPEC_ARENA_NEW(arena, struct tspec_value_entry_t, bigger.nslots);
  for (size_t i = 0; i < map->nslots; i++) {
    if (map->slots[i].key != NULL) {
      bigger.slots[slot_of(&bigger, map->slots[i].key)] = map->slots[i];
    }
  }
  *map = bigger;
}

void tspec_value_map_set(tspec_arena_t *arena, tspec_value_map_t *map, MlirValue key,
                         tspec_value_t *value) {
  if (map->count * 2 >= map->nslots) {
    grow(arena, map);
  }
  struct tspec_value_entry_t *entry = &map->slots[slot_of(map, key.ptr)];
  if (entry->key == NULL) {
    map->count++;
  }
  *entry = (struct tspec_value_entry_t){key.ptr, value};
}

tspec_value_t *tspec_value_map_get(const tspec_value_map_t *map, MlirValue key) {
  return map->nslots == 0 ? NULL : map->slots[slot_of(map, key.ptr)].value;
}

// ---- one op ----

/// An op at hand.
typedef struct reading_t {
  tspec_reader_t *reader;
  MlirOperation op;
  const char *owner; ///< "'tspec.dot'"
  tspec_range_t range;
  const char *because;
  tspec_op_kind_t kind;
} reading_t;

static MlirAttribute attr_of(MlirOperation op, const char *name) {
  return mlirOperationGetAttributeByName(op, tspec_string_ref(name));
}

static tspec_subject_t subject_of(const reading_t *reading, const char *name) {
  return (tspec_subject_t){reading->owner, name, reading->range};
}

static bool is_reserved(const char *name) {
  static const char *const kNames[] = {TSPEC_NAME_SHARDINGS, TSPEC_NAME_NAMES,
                                       TSPEC_NAME_GLOBALS,   TSPEC_NAME_OFFSETS,
                                       TSPEC_NAME_PLACES,    TSPEC_NAME_SPELLING};
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    if (strcmp(name, kNames[i]) == 0) {
      return true;
    }
  }
  return false;
}

static const tspec_attr_spec_t *spec_of(tspec_op_kind_t kind, const char *name) {
  const tspec_attr_spec_t *spec = tspec_op_info(kind)->rules->attrs;
  for (; spec != NULL && spec->name != NULL; spec++) {
    if (strcmp(spec->name, name) == 0) {
      return spec;
    }
  }
  return NULL;
}

/// Reports an attribute that the op does not have, with the one that may be meant.
static void report_unknown(const reading_t *reading, const char *name) {
  tspec_names_t known = {0};
  const tspec_attr_spec_t *spec = tspec_op_info(reading->kind)->rules->attrs;
  for (; spec != NULL && spec->name != NULL; spec++) {
    tspec_names_set(reading->reader->arena, &known, spec->name, (void *)spec);
  }
  const char *nearest = tspec_names_nearest(&known, name);
  tspec_diag_t *diag = reading->reader->diag;
  tspec_diag_error(diag, reading->range, "%s has no attribute '%s'%s%s%s", reading->owner, name,
                   nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
                   nearest == NULL ? "" : "'?");
  tspec_diag_note(diag, reading->range, "attributes of others have a prefix, as in 'mine.%s'",
                  name);
}

/// Splits the op's attributes into its own (into `out_attrs`) and those of others (into a
/// dictionary, NULL if none).
static bool read_attrs(const reading_t *reading, int rank, tspec_attr_t *out_attrs, int *out_nattrs,
                       void **out_foreign) {
  tspec_reader_t *reader = reading->reader;
  intptr_t count = mlirOperationGetNumAttributes(reading->op);
  MlirNamedAttribute *foreign = TSPEC_ARENA_NEW(reader->arena, MlirNamedAttribute, count);
  intptr_t nforeign = 0;
  bool ok = true;
  *out_nattrs = 0;
  for (intptr_t i = 0; i < count; i++) {
    MlirNamedAttribute named = mlirOperationGetAttribute(reading->op, i);
    const char *name = tspec_read_text(reader, mlirIdentifierStr(named.name));
    const tspec_attr_spec_t *spec = spec_of(reading->kind, name);
    if (spec != NULL) {
      tspec_subject_t subject = subject_of(reading, spec->name);
      ok = tspec_read_attr(reader, &subject, named.attribute, spec->kind, rank,
                           &out_attrs[(*out_nattrs)++]) &&
           ok;
    } else if (strchr(name, '.') != NULL) {
      foreign[nforeign++] = named;
    } else if (!is_reserved(name)) {
      report_unknown(reading, name);
      ok = false;
    }
  }
  MlirContext context = mlirOperationGetContext(reading->op);
  *out_foreign =
      nforeign == 0 ? NULL : (void *)mlirDictionaryAttrGet(context, nforeign, foreign).ptr;
  return ok;
}

/// The operands' values, through to_any. False if one of them was refused before.
static bool read_operands(const reading_t *reading, const tspec_value_map_t *values,
                          tspec_value_t **out_operands) {
  intptr_t count = mlirOperationGetNumOperands(reading->op);
  for (intptr_t i = 0; i < count; i++) {
    out_operands[i] = tspec_value_map_get(values, mlirOperationGetOperand(reading->op, i));
    if (out_operands[i] == NULL) {
      return false;
    }
  }
  return true;
}

/// The MLIR type of a result, through from_any.
static MlirType result_type(MlirOperation op, intptr_t index) {
  MlirValue result = mlirOperationGetResult(op, index);
  MlirOpOperand use = mlirValueGetFirstUse(result);
  if (!mlirOpOperandIsNull(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(user)),
                           tspec_string_ref(TSPEC_NAME_FROM_ANY))) {
      return mlirValueGetType(mlirOperationGetResult(user, 0));
    }
  }
  return mlirValueGetType(result);
}

/// Element `index` of an attribute that holds one per result; a null attribute if there is none.
/// Reports a list that does not fit once, with element 0.
static bool element_of(const reading_t *reading, const char *name, intptr_t index,
                       MlirAttribute *out_element) {
  *out_element = mlirAttributeGetNull();
  MlirAttribute list = attr_of(reading->op, name);
  if (mlirAttributeIsNull(list)) {
    return true;
  }
  intptr_t nresults = mlirOperationGetNumResults(reading->op);
  if (!mlirAttributeIsAArray(list) || mlirArrayAttrGetNumElements(list) != nresults) {
    if (index == 0) {
      tspec_subject_t subject = subject_of(reading, name);
      tspec_read_mismatch(reading->reader, &subject, list, "a list of one element per result");
    }
    return false;
  }
  MlirAttribute element = mlirArrayAttrGetElement(list, index);
  if (!mlirAttributeIsAUnit(element)) {
    *out_element = element;
  }
  return true;
}

/// The whole types of results that no `infer` gives: from `global`, else as they are written.
static bool read_result_types(const reading_t *reading, tspec_type_t *out_types) {
  intptr_t count = mlirOperationGetNumResults(reading->op);
  tspec_subject_t subject = subject_of(reading, TSPEC_NAME_GLOBALS);
  for (intptr_t i = 0; i < count; i++) {
    MlirAttribute global;
    if (!element_of(reading, TSPEC_NAME_GLOBALS, i, &global)) {
      return false;
    }
    bool ok =
        mlirAttributeIsNull(global)
            ? tspec_read_type(reading->reader, &subject, result_type(reading->op, i), &out_types[i])
            : tspec_read_type_attr(reading->reader, &subject, global, &out_types[i]);
    if (!ok) {
      return false;
    }
  }
  return true;
}

bool tspec_import_check_type(tspec_reader_t *reader, const tspec_subject_t *subject,
                             const tspec_value_t *value, MlirType written) {
  tspec_type_t got;
  if (!tspec_read_type(reader, subject, written, &got)) {
    return false;
  }
  bool block = reader->program->level >= TSPEC_LEVEL_LOCAL && value->sharding != NULL;
  tspec_type_t want =
      block ? tspec_sharding_local_type(reader->arena, value->sharding, value->type) : value->type;
  if (!tspec_type_equal(got, want)) {
    tspec_diag_error(reader->diag, subject->range, "%s is written as %s, but %s %s", subject->owner,
                     tspec_type_print(reader->arena, got),
                     block ? "its block on rank 0 is" : "it is",
                     tspec_type_print(reader->arena, want));
    if (block) {
      tspec_diag_note(reader->diag, subject->range, "the whole is %s @ %s",
                      tspec_type_print(reader->arena, value->type),
                      tspec_sharding_print(reader->arena, &reader->program->mesh, value->sharding));
    }
    return false;
  }
  return true;
}

/// Sharding, name, offset and place of result `index`, and whether its type fits.
static bool read_result(const reading_t *reading, intptr_t index, tspec_value_t *value) {
  tspec_reader_t *reader = reading->reader;
  tspec_subject_t subject = subject_of(reading, TSPEC_NAME_SHARDINGS);
  subject.owner = tspec_arena_printf(reader->arena, "result %d of %s", (int)index, reading->owner);
  MlirAttribute element;
  bool ok = element_of(reading, TSPEC_NAME_SHARDINGS, index, &element);
  if (!mlirAttributeIsNull(element)) {
    ok = tspec_read_sharding(reader, &subject, element, value->type.rank, &value->sharding) && ok;
  }
  ok = element_of(reading, TSPEC_NAME_NAMES, index, &element) && ok;
  subject.name = TSPEC_NAME_NAMES;
  if (!mlirAttributeIsNull(element)) {
    ok = tspec_read_string(reader, &subject, element, &value->name) && ok;
  }
  ok = element_of(reading, TSPEC_NAME_OFFSETS, index, &element) && ok;
  subject.name = TSPEC_NAME_OFFSETS;
  if (!mlirAttributeIsNull(element)) {
    ok = tspec_read_int(reader, &subject, element, &value->offset_bytes) && ok;
  }
  ok = element_of(reading, TSPEC_NAME_PLACES, index, &element) && ok;
  subject.name = TSPEC_NAME_PLACES;
  if (!mlirAttributeIsNull(element)) {
    if (mlirAttributeIsALocation(element)) {
      const char *because = NULL;
      value->range = tspec_read_range(reader, mlirLocationFromAttribute(element), &because);
    } else {
      tspec_read_mismatch(reader, &subject, element, "a location");
      ok = false;
    }
  }
  return ok && tspec_import_check_type(reader, &subject, value, result_type(reading->op, index));
}

static bool read_spelling(const reading_t *reading, const char **out_spelling) {
  MlirAttribute attr = attr_of(reading->op, TSPEC_NAME_SPELLING);
  *out_spelling = NULL;
  tspec_subject_t subject = subject_of(reading, TSPEC_NAME_SPELLING);
  return mlirAttributeIsNull(attr) ||
         tspec_read_string(reading->reader, &subject, attr, out_spelling);
}

static bool build_op(const reading_t *reading, tspec_func_t *func, tspec_value_map_t *values) {
  tspec_reader_t *reader = reading->reader;
  intptr_t nresults = mlirOperationGetNumResults(reading->op);
  intptr_t noperands = mlirOperationGetNumOperands(reading->op);
  tspec_value_t **operands = TSPEC_ARENA_NEW(reader->arena, tspec_value_t *, noperands);
  if (!read_operands(reading, values, operands)) {
    return false;
  }
  tspec_attr_t *attrs =
      TSPEC_ARENA_NEW(reader->arena, tspec_attr_t, mlirOperationGetNumAttributes(reading->op));
  tspec_op_build_t build = {.kind = reading->kind,
                            .noperands = (int)noperands,
                            .operands = operands,
                            .attrs = attrs,
                            .range = reading->range,
                            .because = reading->because};
  void *foreign = NULL;
  int rank = noperands == 0 ? -1 : operands[0]->type.rank;
  if (!read_attrs(reading, rank, attrs, &build.nattrs, &foreign) ||
      !read_spelling(reading, &build.spelling)) {
    return false;
  }
  const tspec_op_info_t *info = tspec_op_info(reading->kind);
  if (info->nresults < 0 && info->rules->infer == NULL) {
    tspec_type_t *types = TSPEC_ARENA_NEW(reader->arena, tspec_type_t, nresults);
    if (!read_result_types(reading, types)) {
      return false;
    }
    build.nresults = (int)nresults;
    build.result_types = types;
  }
  tspec_op_t *op = tspec_op_create(reader->program, func, NULL, &build, reader->diag);
  if (op == NULL) {
    return false;
  }
  op->foreign_attrs = foreign;
  if (op->nresults != nresults) {
    tspec_diag_error(reader->diag, reading->range, "%s has %d results, wanted %d", reading->owner,
                     (int)nresults, op->nresults);
    return false;
  }
  bool ok = true;
  for (intptr_t i = 0; i < nresults; i++) {
    tspec_value_map_set(reader->arena, values, mlirOperationGetResult(reading->op, i),
                        op->results[i]);
    ok = read_result(reading, i, op->results[i]) && ok;
  }
  return ok;
}

/// Where the `count`-th op called `name` begins in the module's text (its quoted name; comments are
/// skipped), or nowhere.
static tspec_range_t find_text(const tspec_reader_t *reader, const char *name, int64_t count) {
  const tspec_source_t *source = tspec_sources_get(reader->diag->sources, reader->file);
  const char *quoted = tspec_arena_printf(reader->arena, "\"%s\"(", name);
  size_t length = strlen(quoted);
  for (size_t at = 0; at + length <= source->length; at++) {
    if (strncmp(source->text + at, "//", 2) == 0) {
      at += strcspn(source->text + at, "\n");
    } else if (strncmp(source->text + at, quoted, length) == 0 && --count == 0) {
      return tspec_source_range(reader->diag->sources, reader->file, at, at + length - 1);
    }
  }
  return (tspec_range_t){0};
}

/// An op whose place is in another file: errors stand there, and this note shows the module's own
/// line.
static void note_text(const reading_t *reading, const char *name) {
  tspec_reader_t *reader = reading->reader;
  if (reader->file == 0 || reading->range.file == reader->file) {
    return;
  }
  tspec_range_t range = find_text(reader, name, reader->nread[reading->kind]);
  if (range.file != 0) {
    tspec_diag_note(reader->diag, range, "written here");
  }
}

bool tspec_import_op(tspec_reader_t *reader, tspec_func_t *func, tspec_value_map_t *values,
                     MlirOperation op) {
  const char *name = tspec_read_op_name(reader, op);
  if (strcmp(name, TSPEC_NAME_TO_ANY) == 0 || strcmp(name, TSPEC_NAME_FROM_ANY) == 0) {
    tspec_value_t *value = tspec_value_map_get(values, mlirOperationGetOperand(op, 0));
    tspec_value_map_set(reader->arena, values, mlirOperationGetResult(op, 0), value);
    return value != NULL;
  }
  reading_t reading = {.reader = reader,
                       .op = op,
                       .owner = tspec_arena_printf(reader->arena, "'%s'", name),
                       .kind = TSPEC_OP_COUNT};
  reading.range = tspec_read_range(reader, mlirOperationGetLocation(op), &reading.because);
  if (strncmp(name, "tspec.", strlen("tspec.")) == 0) {
    reading.kind = tspec_op_find(name + strlen("tspec."));
  }
  if (reading.kind == TSPEC_OP_COUNT) {
    tspec_diag_error(reader->diag, reading.range, "%s is no op of an entry", reading.owner);
    return false;
  }
  if (mlirOperationGetNumRegions(op) != 0 || mlirOperationGetNumSuccessors(op) != 0) {
    tspec_diag_error(reader->diag, reading.range, "%s has no regions or successors", reading.owner);
    return false;
  }
  reader->nread[reading.kind]++;
  int nerrors = reader->diag->nerrors;
  bool ok = build_op(&reading, func, values);
  if (reader->diag->nerrors > nerrors) {
    note_text(&reading, name);
  }
  return ok;
}
