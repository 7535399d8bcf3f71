#include "ir/mlir/reader.h"

#include <string.h>

#include "ir/mlir/context.h"

static void append(MlirStringRef text, void *buf) {
  tspec_buf_append(buf, text.data, text.length);
}

tspec_range_t tspec_read_range(tspec_reader_t *reader, MlirLocation location,
                               const char **out_because) {
  return tspec_location_range(location, reader->diag->sources, reader->arena, out_because);
}

const char *tspec_read_text(tspec_reader_t *reader, MlirStringRef text) {
  return tspec_arena_strdup(reader->arena, text.data, text.length);
}

const char *tspec_read_op_name(tspec_reader_t *reader, MlirOperation op) {
  return tspec_read_text(reader, mlirIdentifierStr(mlirOperationGetName(op)));
}

void tspec_read_mismatch(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                         const char *wanted) {
  tspec_buf_t text = {0};
  mlirAttributePrint(attr, append, &text);
  tspec_diag_error(reader->diag, subject->range, "attribute '%s' of %s wants %s, got %s",
                   subject->name, subject->owner, wanted, tspec_buf_get(&text));
  tspec_buf_deinit(&text);
}

bool tspec_read_string(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                       const char **out_text) {
  if (!mlirAttributeIsAString(attr)) {
    tspec_read_mismatch(reader, subject, attr, "a string");
    return false;
  }
  *out_text = tspec_read_text(reader, mlirStringAttrGetValue(attr));
  return true;
}

bool tspec_read_int(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                    int64_t *out_number) {
  MlirType type = mlirAttributeIsAInteger(attr) ? mlirAttributeGetType(attr) : (MlirType){NULL};
  if (type.ptr == NULL || !mlirTypeIsAInteger(type) || !mlirIntegerTypeIsSignless(type) ||
      mlirIntegerTypeGetWidth(type) > 64) {
    tspec_read_mismatch(reader, subject, attr, "an integer");
    return false;
  }
  *out_number = mlirIntegerAttrGetValueInt(attr);
  return true;
}

bool tspec_read_ints(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                     int64_t *out_count, const int64_t **out_numbers) {
  if (!mlirAttributeIsADenseI64Array(attr)) {
    tspec_read_mismatch(reader, subject, attr, "integers, array<i64: ...>");
    return false;
  }
  *out_count = mlirDenseArrayGetNumElements(attr);
  int64_t *numbers = TSPEC_ARENA_NEW(reader->arena, int64_t, *out_count);
  for (int64_t i = 0; i < *out_count; i++) {
    numbers[i] = mlirDenseI64ArrayGetElement(attr, i);
  }
  *out_numbers = numbers;
  return true;
}

bool tspec_read_floats(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                       int64_t *out_count, const double **out_numbers) {
  if (!mlirAttributeIsADenseF64Array(attr)) {
    tspec_read_mismatch(reader, subject, attr, "numbers, array<f64: ...>");
    return false;
  }
  *out_count = mlirDenseArrayGetNumElements(attr);
  double *numbers = TSPEC_ARENA_NEW(reader->arena, double, *out_count);
  for (int64_t i = 0; i < *out_count; i++) {
    numbers[i] = mlirDenseF64ArrayGetElement(attr, i);
  }
  *out_numbers = numbers;
  return true;
}

bool tspec_read_strings(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                        int *out_count, const char *const **out_texts) {
  if (!mlirAttributeIsAArray(attr)) {
    tspec_read_mismatch(reader, subject, attr, "a list of strings");
    return false;
  }
  intptr_t count = mlirArrayAttrGetNumElements(attr);
  const char **texts = TSPEC_ARENA_NEW(reader->arena, const char *, count);
  for (intptr_t i = 0; i < count; i++) {
    if (!tspec_read_string(reader, subject, mlirArrayAttrGetElement(attr, i), &texts[i])) {
      return false;
    }
  }
  *out_count = (int)count;
  *out_texts = texts;
  return true;
}

/// The parameter of `#tspec.sharding<"...">`, in the reader's arena, or NULL. The C API shows no
/// parameters of an attribute that IRDL defines, but its text does.
static const char *notation(tspec_reader_t *reader, MlirAttribute attr) {
  static const char kBefore[] = "#tspec.sharding<\"";
  static const char kAfter[] = "\">";
  size_t before = strlen(kBefore);
  size_t after = strlen(kAfter);
  tspec_buf_t buf = {0};
  mlirAttributePrint(attr, append, &buf);
  const char *text = NULL;
  if (buf.length >= before + after && strncmp(buf.text, kBefore, before) == 0 &&
      strcmp(buf.text + buf.length - after, kAfter) == 0) {
    text = tspec_arena_strdup(reader->arena, buf.text + before, buf.length - before - after);
  }
  tspec_buf_deinit(&buf);
  return text;
}

bool tspec_read_sharding(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                         int rank, const tspec_sharding_t **out_sharding) {
  const char *text = notation(reader, attr);
  if (text == NULL) {
    tspec_read_mismatch(reader, subject, attr, "#tspec.sharding<\"...\">");
    return false;
  }
  const char *key = tspec_arena_printf(reader->arena, "%d %s", rank, text);
  const tspec_sharding_t *sharding = tspec_names_get(&reader->shardings, key);
  if (sharding == NULL) {
    sharding = tspec_sharding_parse(reader->arena, &reader->program->mesh, text, rank,
                                    (tspec_about_t){subject->owner, subject->range}, reader->diag);
    if (sharding == NULL) {
      return false;
    }
    tspec_names_set(reader->arena, &reader->shardings, key, (void *)sharding);
  }
  *out_sharding = sharding;
  return true;
}

static bool read_dtype(MlirType type, tspec_dtype_t *out_dtype) {
  tspec_buf_t buf = {0};
  mlirTypePrint(type, append, &buf);
  bool found = false;
  for (int i = 0; i < TSPEC_DTYPE_COUNT && !found; i++) {
    if (strcmp(tspec_dtype_mlir_name((tspec_dtype_t)i), tspec_buf_get(&buf)) == 0) {
      *out_dtype = (tspec_dtype_t)i;
      found = true;
    }
  }
  tspec_buf_deinit(&buf);
  return found;
}

static bool is_static_tensor(MlirType type) {
  return mlirTypeIsARankedTensor(type) && mlirShapedTypeHasStaticShape(type) &&
         mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type));
}

bool tspec_read_type(tspec_reader_t *reader, const tspec_subject_t *subject, MlirType type,
                     tspec_type_t *out_type) {
  tspec_dtype_t dtype = TSPEC_DTYPE_F32;
  if (!is_static_tensor(type) || !read_dtype(mlirShapedTypeGetElementType(type), &dtype)) {
    tspec_buf_t text = {0};
    mlirTypePrint(type, append, &text);
    tspec_diag_error(reader->diag, subject->range,
                     "%s has type %s, wanted a tensor of fixed sizes and of f64, f32, bf16, f16, "
                     "i64, i32, i16, i8, ui8 or i1",
                     subject->owner, tspec_buf_get(&text));
    tspec_buf_deinit(&text);
    return false;
  }
  int rank = (int)mlirShapedTypeGetRank(type);
  int64_t *dims = TSPEC_ARENA_NEW(reader->arena, int64_t, rank);
  for (int i = 0; i < rank; i++) {
    dims[i] = mlirShapedTypeGetDimSize(type, i);
    if (dims[i] < 1) {
      tspec_diag_error(reader->diag, subject->range, "%s has an empty dim %d", subject->owner, i);
      return false;
    }
  }
  *out_type = tspec_type_make(reader->arena, dtype, rank, dims);
  if (!tspec_type_fits(*out_type)) {
    tspec_diag_error(reader->diag, subject->range, "%s is %s, more than 2^50 bytes", subject->owner,
                     tspec_type_print(reader->arena, *out_type));
    return false;
  }
  return true;
}

bool tspec_read_type_attr(tspec_reader_t *reader, const tspec_subject_t *subject,
                          MlirAttribute attr, tspec_type_t *out_type) {
  if (!mlirAttributeIsAType(attr)) {
    tspec_read_mismatch(reader, subject, attr, "a type");
    return false;
  }
  return tspec_read_type(reader, subject, mlirTypeAttrGetValue(attr), out_type);
}

static bool read_axes(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                      tspec_attr_t *out_attr) {
  int count = 0;
  const char *const *texts = NULL;
  if (!tspec_read_strings(reader, subject, attr, &count, &texts)) {
    return false;
  }
  // an axis or a piece of one is what a one-dim sharding may hold
  tspec_axis_t *axes = TSPEC_ARENA_NEW(reader->arena, tspec_axis_t, count);
  for (int i = 0; i < count; i++) {
    const tspec_sharding_t *sharding = tspec_sharding_parse(
        reader->arena, &reader->program->mesh, tspec_arena_printf(reader->arena, "[%s]", texts[i]),
        1, (tspec_about_t){subject->owner, subject->range}, reader->diag);
    if (sharding == NULL) {
      return false;
    }
    if (sharding->dims[0].naxes != 1 || sharding->npending != 0 || sharding->dims[0].open) {
      tspec_read_mismatch(reader, subject, attr, "mesh axes or pieces of them");
      return false;
    }
    axes[i] = sharding->dims[0].axes[0];
  }
  *out_attr = tspec_attr_axes(subject->name, count, axes);
  return true;
}

static bool read_reduce(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                        tspec_attr_t *out_attr) {
  const char *text = NULL;
  if (!tspec_read_string(reader, subject, attr, &text)) {
    return false;
  }
  if (!tspec_reduce_parse(text, &out_attr->reduce)) {
    tspec_read_mismatch(reader, subject, attr, "sum, max, min, prod, all or any");
    return false;
  }
  return true;
}

static bool read_float(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                       double *out_number) {
  if (!mlirAttributeIsAFloat(attr) || !mlirTypeIsAF64(mlirAttributeGetType(attr))) {
    tspec_read_mismatch(reader, subject, attr, "a number, 1.0 : f64");
    return false;
  }
  *out_number = mlirFloatAttrGetValueDouble(attr);
  return true;
}

static bool read_dtype_attr(tspec_reader_t *reader, const tspec_subject_t *subject,
                            MlirAttribute attr, tspec_dtype_t *out_dtype) {
  if (!mlirAttributeIsAType(attr) || !read_dtype(mlirTypeAttrGetValue(attr), out_dtype)) {
    tspec_read_mismatch(reader, subject, attr, "an element type");
    return false;
  }
  return true;
}

bool tspec_read_attr(tspec_reader_t *reader, const tspec_subject_t *subject, MlirAttribute attr,
                     tspec_attr_kind_t kind, int rank, tspec_attr_t *out_attr) {
  *out_attr = (tspec_attr_t){.name = subject->name, .kind = kind};
  switch (kind) {
  case TSPEC_ATTR_INT:
    return tspec_read_int(reader, subject, attr, &out_attr->i);
  case TSPEC_ATTR_INTS:
    return tspec_read_ints(reader, subject, attr, &out_attr->count, &out_attr->ints);
  case TSPEC_ATTR_FLOAT:
    return read_float(reader, subject, attr, &out_attr->f);
  case TSPEC_ATTR_FLOATS:
    return tspec_read_floats(reader, subject, attr, &out_attr->count, &out_attr->floats);
  case TSPEC_ATTR_STRING:
    return tspec_read_string(reader, subject, attr, &out_attr->string);
  case TSPEC_ATTR_DTYPE:
    return read_dtype_attr(reader, subject, attr, &out_attr->dtype);
  case TSPEC_ATTR_REDUCE:
    return read_reduce(reader, subject, attr, out_attr);
  case TSPEC_ATTR_AXES:
    return read_axes(reader, subject, attr, out_attr);
  case TSPEC_ATTR_SHARDING:
    return tspec_read_sharding(reader, subject, attr, rank, &out_attr->sharding);
  }
  TSPEC_CHECK(false, "attribute '%s' of unknown kind", subject->name);
  return false;
}
