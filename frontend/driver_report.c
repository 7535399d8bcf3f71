#include <string.h>

#include "frontend/driver.h"
#include "frontend/json.h"
#include "passes/collectives.h"

// ---- --report ----

/// One of the tensors that a collective takes, and where it comes from.
static void put_json_tensor(const tspec_driver_t *driver, const tspec_op_t *op, int index,
                            tspec_buf_t *buf) {
  tspec_arena_t *arena = driver->arena;
  const tspec_mesh_t *mesh = &driver->program->mesh;
  tspec_buf_puts(buf, "\"type\": ");
  tspec_json_string(buf, tspec_type_print(arena, op->operands[index]->type));
  tspec_buf_puts(buf, ", \"from\": ");
  tspec_json_string(buf, tspec_sharding_print(arena, mesh, op->operands[index]->sharding));
  tspec_buf_puts(buf, ", \"to\": ");
  tspec_json_string(buf, tspec_sharding_print(arena, mesh, op->results[index]->sharding));
  tspec_buf_puts(buf, ", \"line\": ");
  tspec_json_string(buf, tspec_range_brief(&driver->sources, tspec_collective_range(op, index)));
}

static void put_json_use(const tspec_driver_t *driver, const tspec_collective_use_t *use,
                         tspec_buf_t *buf) {
  const tspec_program_t *program = driver->program;
  tspec_buf_puts(buf, "{\"kind\": ");
  tspec_json_string(buf, tspec_collective_name(use->kind));
  tspec_buf_puts(buf, ", \"axes\": [");
  for (int i = 0; i < use->naxes; i++) {
    tspec_buf_puts(buf, i > 0 ? ", " : "");
    tspec_json_string(buf, tspec_axes_print(driver->arena, &program->mesh, &use->axes[i], 1));
  }
  tspec_buf_printf(buf, "], \"bytes\": %lld, ", (long long)use->bytes);
  if (use->op->nresults == 1) {
    put_json_tensor(driver, use->op, 0, buf);
  } else {
    tspec_buf_puts(buf, "\"tensors\": [");
    for (int i = 0; i < use->op->nresults; i++) {
      tspec_buf_puts(buf, i > 0 ? ", {" : "{");
      put_json_tensor(driver, use->op, i, buf);
      tspec_buf_puts(buf, "}");
    }
    tspec_buf_puts(buf, "]");
  }
  tspec_buf_puts(buf, ", \"because\": ");
  tspec_json_string(buf, use->op->because);
  tspec_buf_puts(buf, "}");
}

static void report_json(const tspec_driver_t *driver, tspec_buf_t *buf) {
  const tspec_program_t *program = driver->program;
  tspec_buf_puts(buf, "{\"program\": ");
  tspec_json_string(buf, program->name);
  tspec_buf_puts(buf, ", \"mesh\": ");
  tspec_json_mesh(buf, &program->mesh);
  tspec_buf_puts(buf, ", \"entries\": [");
  for (int i = 0; i < program->nfuncs; i++) {
    tspec_collective_use_t *uses = NULL;
    int count = tspec_func_collectives(program, program->funcs[i], driver->arena, &uses);
    int64_t total = 0;
    tspec_buf_puts(buf, i > 0 ? ",\n {\"name\": " : "\n {\"name\": ");
    tspec_json_string(buf, program->funcs[i]->name);
    tspec_buf_puts(buf, ", \"collectives\": [");
    for (int j = 0; j < count; j++) {
      tspec_buf_puts(buf, j > 0 ? ",\n  " : "\n  ");
      put_json_use(driver, &uses[j], buf);
      total += uses[j].bytes;
    }
    tspec_buf_printf(buf, "], \"bytes\": %lld}", (long long)total);
  }
  tspec_buf_puts(buf, "]}\n");
}

static void put_totals(const tspec_collective_use_t *uses, int count, tspec_buf_t *buf) {
  int64_t total = 0;
  int counts[TSPEC_COLLECTIVE_MAKE_PENDING + 1] = {0};
  for (int i = 0; i < count; i++) {
    total += uses[i].bytes;
    counts[uses[i].kind]++;
  }
  tspec_buf_printf(buf, "  %lld bytes per rank and call", (long long)total);
  const char *before = ": ";
  for (int kind = 0; kind <= TSPEC_COLLECTIVE_MAKE_PENDING; kind++) {
    if (counts[kind] > 0) {
      tspec_buf_printf(buf, "%s%d %s", before, counts[kind],
                       tspec_collective_name((tspec_collective_t)kind));
      before = ", ";
    }
  }
  tspec_buf_puts(buf, "\n");
}

void tspec_driver_report(const tspec_driver_t *driver, bool json, tspec_buf_t *buf) {
  const tspec_program_t *program = driver->program;
  if (json) {
    report_json(driver, buf);
    return;
  }
  const char *mesh = tspec_mesh_print(driver->arena, &program->mesh);
  tspec_buf_printf(buf, "%s on %s\n", program->name, *mesh == '\0' ? "one rank" : mesh);
  for (int i = 0; i < program->nfuncs; i++) {
    tspec_collective_use_t *uses = NULL;
    int count = tspec_func_collectives(program, program->funcs[i], driver->arena, &uses);
    tspec_buf_printf(buf, "%s\n", program->funcs[i]->name);
    for (int j = 0; j < count; j++) {
      tspec_buf_printf(buf, "  %-14s over %-12s %12lld bytes  %s%s%s\n",
                       tspec_collective_name(uses[j].kind),
                       tspec_axes_print(driver->arena, &program->mesh, uses[j].axes, uses[j].naxes),
                       (long long)uses[j].bytes,
                       tspec_collective_lines(driver->arena, &driver->sources, uses[j].op),
                       uses[j].op->because == NULL ? "" : "  ",
                       uses[j].op->because == NULL ? "" : uses[j].op->because);
    }
    put_totals(uses, count, buf);
  }
}

// ---- --shardings ----

/// One named tensor: a row of the table, a remark at a line.
typedef struct row_t {
  const char *entry; ///< NULL: a parameter or state of the program
  const char *kind;
  const char *path;
  tspec_type_t type;
  const tspec_sharding_t *sharding;
  tspec_range_t range;
} row_t;

typedef TSPEC_VEC(row_t) rows_t;

static void add_row(const tspec_driver_t *driver, rows_t *rows, row_t row) {
  TSPEC_VEC_PUSH(driver->arena, rows, row);
}

static void add_op(const tspec_driver_t *driver, const char *entry, const tspec_op_t *op,
                   rows_t *rows) {
  for (int i = 0; i < op->nresults; i++) {
    const tspec_value_t *value = op->results[i];
    if (value->name != NULL) {
      add_row(driver, rows,
              (row_t){entry, "value", value->name, value->type, value->sharding, value->range});
    }
  }
}

static void add_entry(const tspec_driver_t *driver, const tspec_func_t *func, rows_t *rows) {
  for (int i = 0; i < func->nargs; i++) {
    const tspec_value_t *value = func->args[i].value;
    if (func->args[i].kind == TSPEC_SLOT_INPUT) {
      add_row(driver, rows,
              (row_t){func->name, "input", func->args[i].name, value->type, value->sharding,
                      value->range});
    }
  }
  for (const tspec_op_t *op = func->first; op != NULL; op = op->next) {
    add_op(driver, func->name, op, rows);
  }
  for (int i = 0; i < func->nresults; i++) {
    const tspec_result_t *result = &func->results[i];
    if (result->kind == TSPEC_SLOT_RESULT) {
      add_row(driver, rows,
              (row_t){func->name, "result", result->name, result->value->type,
                      result->sharding != NULL ? result->sharding : result->value->sharding,
                      result->range});
    }
  }
}

static void collect_rows(const tspec_driver_t *driver, const tspec_program_t *program,
                         rows_t *rows) {
  for (int i = 0; i < program->nparams; i++) {
    const tspec_param_t *param = &program->params[i];
    add_row(driver, rows,
            (row_t){NULL, param->is_state ? "state" : "param", param->path, param->type,
                    param->sharding, param->range});
  }
  for (int i = 0; i < program->nfuncs; i++) {
    add_entry(driver, program->funcs[i], rows);
  }
}

static const tspec_sharding_t *sharding_of(const tspec_driver_t *driver, const row_t *row) {
  return row->sharding != NULL ? row->sharding
                               : tspec_sharding_replicated(driver->arena, row->type.rank);
}

static void put_json_row(const tspec_driver_t *driver, const row_t *row, tspec_buf_t *buf) {
  const tspec_sharding_t *sharding = sharding_of(driver, row);
  tspec_buf_puts(buf, "{\"entry\": ");
  tspec_json_string(buf, row->entry);
  tspec_buf_printf(buf, ", \"kind\": \"%s\", \"path\": ", row->kind);
  tspec_json_string(buf, row->path);
  tspec_buf_printf(buf, ", \"dtype\": \"%s\", \"shape\": ", tspec_dtype_name(row->type.dtype));
  tspec_json_dims(buf, row->type);
  tspec_buf_puts(buf, ", \"sharding\": ");
  tspec_json_string(buf, tspec_sharding_print(driver->arena, &driver->program->mesh, sharding));
  tspec_buf_puts(buf, ", \"block\": ");
  tspec_json_dims(buf, tspec_sharding_local_type(driver->arena, sharding, row->type));
  tspec_buf_puts(buf, "}");
}

static int longer(int width, const char *text) {
  int length = (int)strlen(text);
  return length > width ? length : width;
}

static void put_table(const tspec_driver_t *driver, const rows_t *rows, tspec_buf_t *buf) {
  const tspec_mesh_t *mesh = &driver->program->mesh;
  int widths[3] = {0};
  for (int pass = 0; pass < 2; pass++) { // widths first
    const char *entry = NULL;
    for (size_t i = 0; i < rows->count; i++) {
      const row_t *row = &rows->items[i];
      const tspec_sharding_t *sharding = sharding_of(driver, row);
      const char *type = tspec_type_print(driver->arena, row->type);
      const char *notation = tspec_sharding_print(driver->arena, mesh, sharding);
      if (pass == 0) {
        widths[0] = longer(widths[0], row->path);
        widths[1] = longer(widths[1], type);
        widths[2] = longer(widths[2], notation);
        continue;
      }
      if (row->entry != entry) {
        tspec_buf_printf(buf, "%s\n", row->entry);
        entry = row->entry;
      }
      tspec_buf_printf(buf, "%s%-6s %-*s  %-*s  %-*s  %s\n", entry == NULL ? "" : "  ", row->kind,
                       widths[0], row->path, widths[1], type, widths[2], notation,
                       tspec_type_print(driver->arena, tspec_sharding_local_type(
                                                           driver->arena, sharding, row->type)));
    }
  }
}

void tspec_driver_shardings(const tspec_driver_t *driver, const tspec_program_t *program, bool json,
                            tspec_buf_t *buf) {
  rows_t rows = {0};
  collect_rows(driver, program, &rows);
  if (!json) {
    put_table(driver, &rows, buf);
    return;
  }
  tspec_buf_puts(buf, "[");
  for (size_t i = 0; i < rows.count; i++) {
    tspec_buf_puts(buf, i > 0 ? ",\n " : "\n ");
    put_json_row(driver, &rows.items[i], buf);
  }
  tspec_buf_puts(buf, "]\n");
}

// ---- --emit=tspec ----

/// What is said at the end of a source line.
typedef struct remark_t {
  uint32_t line;
  const char *text;
} remark_t;

typedef TSPEC_VEC(remark_t) remarks_t;

/// "w1: [-, model] f32[1024, 256]". Copies of a module differ in all but the last part of their
/// paths, so that is the name.
static void add_remark(const tspec_driver_t *driver, remarks_t *remarks, const row_t *row) {
  if (row->range.file != driver->file) {
    return;
  }
  const char *slash = strrchr(row->path, '/');
  const tspec_sharding_t *sharding = sharding_of(driver, row);
  remark_t remark = {
      row->range.line,
      tspec_arena_printf(driver->arena, "%s: %s %s", slash == NULL ? row->path : slash + 1,
                         tspec_sharding_print(driver->arena, &driver->program->mesh, sharding),
                         tspec_type_print(driver->arena, tspec_sharding_local_type(
                                                             driver->arena, sharding, row->type)))};
  for (size_t i = 0; i < remarks->count; i++) {
    if (remarks->items[i].line == remark.line && strcmp(remarks->items[i].text, remark.text) == 0) {
      return;
    }
  }
  TSPEC_VEC_PUSH(driver->arena, remarks, remark);
}

void tspec_driver_annotate(const tspec_driver_t *driver, const tspec_program_t *program,
                           tspec_buf_t *buf) {
  const tspec_source_t *source = tspec_sources_get(&driver->sources, driver->file);
  rows_t rows = {0};
  remarks_t remarks = {0};
  collect_rows(driver, program, &rows);
  for (size_t i = 0; i < rows.count; i++) {
    add_remark(driver, &remarks, &rows.items[i]);
  }
  for (size_t line = 0; line < source->nlines; line++) {
    size_t begin = source->line_starts[line];
    size_t end = line + 1 < source->nlines ? source->line_starts[line + 1] : source->length;
    while (end > begin && (source->text[end - 1] == '\n' || source->text[end - 1] == '\r')) {
      end--;
    }
    tspec_buf_append(buf, source->text + begin, end - begin);
    const char *before = "  // ";
    for (size_t i = 0; i < remarks.count; i++) {
      if (remarks.items[i].line == line + 1) {
        tspec_buf_printf(buf, "%s%s", before, remarks.items[i].text);
        before = "; ";
      }
    }
    if (line + 1 < source->nlines || end > begin) {
      tspec_buf_puts(buf, "\n");
    }
  }
}
