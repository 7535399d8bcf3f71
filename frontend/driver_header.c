// The C header beside an object file: what a program in C or C++ that links it needs to know.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "frontend/driver.h"
#include "passes/image.h"

/// What such a header begins with: a file that begins otherwise is not ours.
#define MARK "// Made by tspecc"

typedef struct header_t {
  tspec_driver_t *driver;
  tspec_buf_t buf;
  const char *prefix;  ///< "TSPEC_gpt"
  tspec_names_t names; ///< of all constants so far
} header_t;

/// A list of tensors.
typedef struct list_t {
  const char *prefix; ///< "TSPEC_gpt_forward"
  const char *kind;   ///< "IN"
  const char *count;  ///< "NINPUTS"
} list_t;

/// What comes behind the name of a tensor.
static const char *const kSuffixes[] = {"", "_DTYPE", "_NDIMS", "_SHAPE", "_BLOCK_BYTES"};
enum { NSUFFIXES = sizeof kSuffixes / sizeof *kSuffixes };

static bool is_taken(const header_t *h, const char *name) {
  for (int i = 0; i < NSUFFIXES; i++) {
    const char *full = tspec_arena_printf(h->driver->arena, "%s%s", name, kSuffixes[i]);
    if (tspec_names_get(&h->names, full) != NULL) {
      return true;
    }
  }
  return false;
}

/// PREFIX_TEXT with '_' for what C has not in names; a number makes it differ from all before.
static const char *new_name(header_t *h, const char *prefix, const char *text) {
  tspec_arena_t *arena = h->driver->arena;
  char *first = tspec_arena_printf(arena, "%s_%s", prefix, text);
  for (char *at = first; *at != '\0'; at++) {
    *at = isalnum((unsigned char)*at) ? *at : '_';
  }
  const char *name = first;
  for (int i = 2; is_taken(h, name); i++) {
    name = tspec_arena_printf(arena, "%s_%d", first, i);
  }
  for (int i = 0; i < NSUFFIXES; i++) {
    tspec_names_set(arena, &h->names, tspec_arena_printf(arena, "%s%s", name, kSuffixes[i]), h);
  }
  return name;
}

static void put_type(header_t *h, const char *name, tspec_type_t type,
                     const tspec_sharding_t *sharding) {
  tspec_buf_printf(&h->buf, "#define %s_DTYPE TSPEC_RT_", name);
  for (const char *at = tspec_dtype_name(type.dtype); *at != '\0'; at++) {
    tspec_buf_printf(&h->buf, "%c", toupper((unsigned char)*at));
  }
  tspec_buf_printf(&h->buf, "\n#define %s_NDIMS %d\n", name, type.rank);
  for (int i = 0; i < type.rank; i++) {
    const char *before =
        i == 0 ? tspec_arena_printf(h->driver->arena, "#define %s_SHAPE {", name) : ", ";
    tspec_buf_printf(&h->buf, "%s%lld%s", before, (long long)type.dims[i],
                     i + 1 == type.rank ? "}\n" : "");
  }
  tspec_type_t block = tspec_sharding_local_type(h->driver->arena, sharding, type);
  tspec_buf_printf(&h->buf, "#define %s_BLOCK_BYTES %lld\n", name,
                   (long long)tspec_type_bytes(block));
}

/// The indices of `count` values as an enum, then their types.
static void put_list(header_t *h, const list_t *list, int count, const char *const *texts,
                     const tspec_value_t *values) {
  tspec_arena_t *arena = h->driver->arena;
  const tspec_mesh_t *mesh = &h->driver->program->mesh;
  const char **names = TSPEC_ARENA_NEW(arena, const char *, count + 1);
  tspec_buf_puts(&h->buf, "enum {\n");
  for (int i = 0; i < count; i++) {
    names[i] = new_name(h, tspec_arena_printf(arena, "%s_%s", list->prefix, list->kind), texts[i]);
    tspec_buf_printf(&h->buf, "  %s = %d, ///< '%s': %s @ %s\n", names[i], i, texts[i],
                     tspec_type_print(arena, values[i].type),
                     tspec_sharding_print(arena, mesh, values[i].sharding));
  }
  tspec_buf_printf(&h->buf, "  %s = %d,\n};\n", new_name(h, list->prefix, list->count), count);
  for (int i = 0; i < count; i++) {
    put_type(h, names[i], values[i].type, values[i].sharding);
  }
  tspec_buf_puts(&h->buf, "\n");
}

static void put_params(header_t *h) {
  const tspec_program_t *program = h->driver->program;
  int count = program->nparams;
  const char **names = TSPEC_ARENA_NEW(h->driver->arena, const char *, count + 1);
  tspec_value_t *values = TSPEC_ARENA_NEW(h->driver->arena, tspec_value_t, count + 1);
  for (int i = 0; i < count; i++) {
    names[i] = program->params[i].path;
    values[i] =
        (tspec_value_t){.type = program->params[i].type, .sharding = program->params[i].sharding};
  }
  tspec_buf_puts(&h->buf, "/// Parameters and state, for tspec_rt_get_param.\n");
  put_list(h, &(list_t){h->prefix, "PARAM", "NPARAMS"}, count, names, values);
}

static void put_entry(header_t *h, const tspec_func_t *func) {
  tspec_arena_t *arena = h->driver->arena;
  int most = func->nargs + func->nresults + 1;
  const char **names = TSPEC_ARENA_NEW(arena, const char *, most);
  tspec_value_t *values = TSPEC_ARENA_NEW(arena, tspec_value_t, most);
  const char *prefix = new_name(h, h->prefix, func->name);
  tspec_buf_printf(&h->buf, "/// Entry '%s': inputs and results of tspec_rt_call.\n", func->name);
  tspec_buf_printf(&h->buf, "#define %s \"%s\"\n", prefix, func->name);
  int count = 0;
  for (int i = 0; i < func->nargs; i++) {
    if (func->args[i].kind == TSPEC_SLOT_INPUT) {
      names[count] = func->args[i].name;
      values[count++] = *func->args[i].value;
    }
  }
  put_list(h, &(list_t){prefix, "IN", "NINPUTS"}, count, names, values);
  count = 0;
  for (int i = 0; i < func->nresults; i++) {
    if (func->results[i].kind == TSPEC_SLOT_RESULT) {
      names[count] = func->results[i].name;
      values[count++] = *func->results[i].value;
    }
  }
  put_list(h, &(list_t){prefix, "OUT", "NRESULTS"}, count, names, values);
}

static void put_header(header_t *h) {
  const tspec_program_t *program = h->driver->program;
  tspec_arena_t *arena = h->driver->arena;
  const char *symbol = tspec_image_symbol(program, arena);
  const char *name = symbol + strlen("tspec_program_");
  const char *mesh = tspec_mesh_print(arena, &program->mesh);
  h->prefix = tspec_arena_printf(arena, "TSPEC_%s", name);
  tspec_buf_printf(&h->buf,
                   MARK " " TSPEC_VERSION
                        " from '%s': the program in the object file beside it, for C and C++.\n"
                        "// *_SHAPE is the whole tensor's, *_BLOCK_BYTES the size of the largest "
                        "block that a rank holds.\n"
                        "#ifndef TSPEC_PROGRAM_%s_H\n#define TSPEC_PROGRAM_%s_H\n\n"
                        "#include \"runtime/tspec_rt.h\"\n\n"
                        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
                        "extern const tspec_compiled_t %s;\n\n",
                   program->name, name, name, symbol);
  tspec_buf_printf(&h->buf, "/// Mesh: %s.\nenum {\n  %s = %lld,\n};\n\n",
                   mesh[0] == '\0' ? "one rank" : mesh, new_name(h, h->prefix, "RANKS"),
                   (long long)tspec_mesh_nranks(&program->mesh));
  put_params(h);
  for (int i = 0; i < program->nfuncs; i++) {
    put_entry(h, program->funcs[i]);
  }
  tspec_buf_puts(&h->buf, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

/// True if there is no such file, or one that tspecc has made.
static bool may_write(const char *path) {
  char start[sizeof MARK] = "";
  FILE *file = fopen(path, "r");
  if (file == NULL) {
    return errno == ENOENT;
  }
  size_t length = fread(start, 1, strlen(MARK), file);
  (void)fclose(file);
  return length == 0 || strcmp(start, MARK) == 0;
}

bool tspec_driver_write_header(tspec_driver_t *driver, const char *object) {
  const char *slash = strrchr(object, '/'), *dot = strrchr(object, '.');
  bool has_ending = dot != NULL && (slash == NULL || dot > slash + 1) && dot != object;
  int length = (int)(has_ending ? (size_t)(dot - object) : strlen(object));
  const char *path = tspec_arena_printf(driver->arena, "%.*s.h", length, object);
  if (strcmp(path, object) == 0) {
    return true;
  }
  if (!may_write(path)) {
    tspec_diag_error(
        &driver->diag, (tspec_range_t){0},
        "the header '%s' of object '%s' would replace a file that tspecc has not made; "
        "choose another name with '-o'",
        path, object);
    return false;
  }
  header_t h = {.driver = driver};
  put_header(&h);
  bool ok = tspec_driver_write(driver, path, tspec_buf_get(&h.buf));
  tspec_buf_deinit(&h.buf);
  return ok;
}
