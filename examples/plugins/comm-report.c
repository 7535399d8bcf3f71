// comm-report: what each collective of the local program sends, and the sums per module.
//
//   tspecc mlp.tspec --pass-plugin=libcomm-report.so[,format=csv][,out=FILE]
//
// A collective belongs to the module whose values it serves: the path of its result without the
// last part, else that of a parameter or value which its producer reads.
#include <errno.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <string.h>
#include <tspec/plugin.h>

#include "ir/base/vec.h"

/// One collective, or (`kind` NULL) the sum of a module.
typedef struct row_t {
  const char *entry;
  const char *module;
  const char *kind;
  const char *axes;
  int64_t bytes;
  int count;
  const char *place;
} row_t;

typedef TSPEC_VEC(row_t) rows_t;

// ---- which module ----

/// "blocks/0" of "blocks/0/w1", "(top)" of "w1".
static const char *module_of_path(tspec_plugin_run_t *run, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash == NULL ? "(top)"
                       : tspec_arena_strdup(tspec_plugin_arena(run), path, (size_t)(slash - path));
}

/// The name of an operand of `op`, of parameters first; NULL if none has one.
static const char *operand_name(tspec_plugin_run_t *run, MlirOperation op) {
  const char *name = NULL;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    const char *path = tspec_plugin_value_name(run, operand);
    if (path != NULL && tspec_plugin_is_param(run, operand)) {
      return path;
    }
    name = name != NULL ? name : path;
  }
  return name;
}

static const char *module_of(tspec_plugin_run_t *run, MlirOperation op) {
  const char *path = tspec_plugin_value_name(run, mlirOperationGetResult(op, 0));
  MlirValue operand = mlirOperationGetOperand(op, 0);
  if (path == NULL) {
    path = tspec_plugin_value_name(run, operand);
  }
  if (path == NULL && mlirValueIsAOpResult(operand)) {
    path = operand_name(run, mlirOpResultGetOwner(operand));
  }
  return path == NULL ? "(top)" : module_of_path(run, path);
}

// ---- collecting ----

static const char *axes_of(tspec_plugin_run_t *run, MlirOperation op) {
  MlirAttribute axes = mlirOperationGetAttributeByName(op, mlirStringRefCreateFromCString("axes"));
  const char *text = "";
  for (intptr_t i = 0; !mlirAttributeIsNull(axes) && i < mlirArrayAttrGetNumElements(axes); i++) {
    MlirStringRef axis = mlirStringAttrGetValue(mlirArrayAttrGetElement(axes, i));
    text = tspec_arena_printf(tspec_plugin_arena(run), "%s%s%.*s", text, i > 0 ? "*" : "",
                              (int)axis.length, axis.data);
  }
  return text;
}

static bool visit(tspec_plugin_run_t *run, const char *entry, MlirOperation op, void *user) {
  rows_t *rows = user;
  int64_t bytes = tspec_plugin_collective_bytes(run, op);
  if (bytes >= 0) {
    row_t row = {.entry = entry,
                 .module = module_of(run, op),
                 .kind = tspec_plugin_op_name(run, op),
                 .axes = axes_of(run, op),
                 .bytes = bytes,
                 .count = 1,
                 .place = tspec_plugin_place(run, mlirOperationGetLocation(op))};
    TSPEC_VEC_PUSH(tspec_plugin_arena(run), rows, row);
  }
  return true;
}

/// Sums per entry and module, in order of appearance.
static void add_up(tspec_plugin_run_t *run, const rows_t *rows, rows_t *out_sums) {
  for (size_t i = 0; i < rows->count; i++) {
    const row_t *row = &rows->items[i];
    size_t j = 0;
    while (j < out_sums->count && (strcmp(out_sums->items[j].entry, row->entry) != 0 ||
                                   strcmp(out_sums->items[j].module, row->module) != 0)) {
      j++;
    }
    if (j == out_sums->count) {
      row_t sum = {.entry = row->entry, .module = row->module};
      TSPEC_VEC_PUSH(tspec_plugin_arena(run), out_sums, sum);
    }
    out_sums->items[j].bytes += row->bytes;
    out_sums->items[j].count += row->count;
  }
}

// ---- printing ----

static void print_table(tspec_plugin_run_t *run, const rows_t *rows, const rows_t *sums,
                        FILE *file) {
  const char *mesh = tspec_mesh_print(tspec_plugin_arena(run), tspec_plugin_mesh(run));
  fprintf(file, "comm-report of %s on %s\n", tspec_plugin_program(run)->name,
          *mesh == '\0' ? "one rank" : mesh);
  fprintf(file, "%-12s %-20s %-15s %-12s %12s  %s\n", "entry", "module", "collective", "axes",
          "bytes", "place");
  for (size_t i = 0; i < rows->count; i++) {
    const row_t *row = &rows->items[i];
    fprintf(file, "%-12s %-20s %-15s %-12s %12lld  %s\n", row->entry, row->module, row->kind,
            row->axes, (long long)row->bytes, row->place);
  }
  fprintf(file, "%-12s %-20s %15s %25s\n", "entry", "module", "collectives", "bytes");
  int64_t total = 0;
  for (size_t i = 0; i < sums->count; i++) {
    const row_t *sum = &sums->items[i];
    fprintf(file, "%-12s %-20s %15d %25lld\n", sum->entry, sum->module, sum->count,
            (long long)sum->bytes);
    total += sum->bytes;
  }
  fprintf(file, "%-12s %-20s %15d %25lld\n", "total", "", (int)rows->count, (long long)total);
}

static void print_csv(const rows_t *rows, FILE *file) {
  fputs("entry,module,collective,axes,bytes,place\n", file);
  for (size_t i = 0; i < rows->count; i++) {
    const row_t *row = &rows->items[i];
    fprintf(file, "%s,%s,%s,%s,%lld,%s\n", row->entry, row->module, row->kind, row->axes,
            (long long)row->bytes, row->place);
  }
}

static bool run_report(tspec_plugin_run_t *run) {
  const char *format = tspec_plugin_option(run, "format");
  const char *path = tspec_plugin_option(run, "out");
  MlirLocation nowhere = mlirLocationUnknownGet(tspec_plugin_context(run));
  if (strcmp(format, "table") != 0 && strcmp(format, "csv") != 0) {
    tspec_plugin_error(run, nowhere, "comm-report: format: got '%s', wanted table or csv", format);
    return false;
  }
  rows_t rows = {0}, sums = {0};
  tspec_plugin_for_each_op(run, visit, &rows);
  add_up(run, &rows, &sums);
  FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (file == NULL) {
    tspec_plugin_error(run, nowhere, "comm-report: '%s' cannot be written: %s", path,
                       strerror(errno));
    return false;
  }
  if (strcmp(format, "csv") == 0) {
    print_csv(&rows, file);
  } else {
    print_table(run, &rows, &sums, file);
  }
  return file == stdout || fclose(file) == 0;
}

// ---- the plugin ----

static const tspec_plugin_option_t kOptions[] = {
    {"format", "table", "table or csv"},
    {"out", "-", "file to write; '-': standard output"},
};

static const tspec_plugin_pass_t kPass = {
    .name = "comm-report",
    .summary = "prints what each collective sends, and the sums per module",
    .level = "local",
    .after = "optimize-collectives",
    .noptions = sizeof kOptions / sizeof *kOptions,
    .options = kOptions,
    .only_reads = true,
    .run = run_report,
};

static void add_passes(tspec_plugin_registry_t *registry) {
  tspec_plugin_add_pass(registry, &kPass);
}

const tspec_plugin_t *tspec_plugin_get(void) {
  static const tspec_plugin_t kPlugin = {
      .abi_version = TSPEC_PLUGIN_ABI_VERSION,
      .name = "comm-report",
      .add_passes = add_passes,
  };
  return &kPlugin;
}
