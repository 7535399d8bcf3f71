#include "frontend/print.h"

#include <inttypes.h>
#include <string.h>

#include "frontend/print_internal.h"

enum {
  WIDTH = 100,
  INDENT = 2,
  CONTINUATION = 4,
  MAX_ALIGN = 60, // a bracket further right than this is not worth aligning to
  LEVELS = 16,    // tightness values within one pair of brackets
  MAX_OPEN = 64,  // brackets beyond this depth are continued like the one at this depth
};

// ---- the line ----

void tspec_printer_put(tspec_printer_t *p, const char *text) {
  tspec_buf_puts(&p->line, text);
}

static void mark(tspec_printer_t *p, tspec_print_mark_kind_t kind, int level) {
  TSPEC_VEC_PUSH(p->arena, &p->marks, (tspec_print_mark_t){kind, p->line.length, level});
}

void tspec_printer_open(tspec_printer_t *p, const char *bracket) {
  tspec_printer_put(p, bracket);
  p->brackets++;
  mark(p, TSPEC_PRINT_MARK_OPEN, 0);
}

void tspec_printer_close(tspec_printer_t *p, const char *bracket) {
  p->brackets--;
  mark(p, TSPEC_PRINT_MARK_CLOSE, 0);
  tspec_printer_put(p, bracket);
}

void tspec_printer_break(tspec_printer_t *p, int tightness) {
  mark(p, TSPEC_PRINT_MARK_BREAK, p->brackets * LEVELS + tightness);
}

void tspec_printer_comma(tspec_printer_t *p, size_t index) {
  if (index > 0) {
    tspec_printer_put(p, ", ");
    tspec_printer_break(p, TSPEC_PRINT_COMMA);
  }
}

void tspec_printer_assign(tspec_printer_t *p) {
  tspec_printer_put(p, " = ");
  tspec_printer_break(p, TSPEC_PRINT_ASSIGN);
}

static void put_blanks(tspec_buf_t *buf, size_t count) {
  for (; count > 0; count--) {
    tspec_buf_append(buf, " ", 1);
  }
}

/// The mark to break at: of those on this line the one with the lowest level, the last of several;
/// if even the first one is too far right, that. NULL: none is left.
static const tspec_print_mark_t *choose_break(const tspec_printer_t *p, size_t begin, size_t room) {
  const tspec_print_mark_t *best = NULL;
  for (size_t i = 0; i < p->marks.count; i++) {
    const tspec_print_mark_t *mark = &p->marks.items[i];
    if (mark->kind != TSPEC_PRINT_MARK_BREAK || mark->at <= begin || mark->at >= p->line.length) {
      continue;
    }
    if (mark->at > begin + room && best != NULL) {
      break;
    }
    if (best == NULL || mark->level <= best->level) {
      best = mark;
    }
  }
  return best;
}

/// Columns of the brackets that are open at `end`, for the marks from `begin` on.
static void track_brackets(const tspec_printer_t *p, size_t begin, size_t end, size_t column,
                           size_t *columns, size_t *depth) {
  for (size_t i = 0; i < p->marks.count; i++) {
    const tspec_print_mark_t *mark = &p->marks.items[i];
    if (mark->at <= begin || mark->at > end) {
      continue;
    }
    if (mark->kind == TSPEC_PRINT_MARK_OPEN) {
      if (*depth < MAX_OPEN) {
        columns[*depth] = column + (mark->at - begin);
      }
      (*depth)++;
    } else if (mark->kind == TSPEC_PRINT_MARK_CLOSE) {
      (*depth)--;
    }
  }
}

static size_t continuation(const size_t *columns, size_t depth, size_t indent) {
  if (depth == 0) {
    return indent + CONTINUATION;
  }
  size_t column = columns[depth <= MAX_OPEN ? depth - 1 : MAX_OPEN - 1];
  return column <= MAX_ALIGN ? column : indent + CONTINUATION;
}

void tspec_printer_end_line(tspec_printer_t *p) {
  size_t columns[MAX_OPEN] = {0};
  size_t depth = 0;
  size_t indent = (size_t)p->indent;
  size_t column = indent;
  size_t begin = 0;
  const char *text = tspec_buf_get(&p->line);
  put_blanks(p->out, p->line.length > 0 ? indent : 0);
  while (column + (p->line.length - begin) > WIDTH) {
    size_t room = column < WIDTH ? WIDTH + 1 - column : 0; // a blank may stand behind the edge
    const tspec_print_mark_t *mark = choose_break(p, begin, room);
    if (mark == NULL) {
      break;
    }
    size_t end = mark->at;
    while (end > begin && text[end - 1] == ' ') {
      end--;
    }
    tspec_buf_append(p->out, text + begin, end - begin);
    tspec_buf_puts(p->out, "\n");
    track_brackets(p, begin, mark->at, column, columns, &depth);
    column = continuation(columns, depth, indent);
    put_blanks(p->out, column);
    begin = mark->at;
  }
  tspec_buf_append(p->out, text + begin, p->line.length - begin);
  tspec_buf_puts(p->out, "\n");
  p->line.length = 0;
  p->marks.count = 0;
}

void tspec_printer_begin_block(tspec_printer_t *p) {
  tspec_printer_put(p, "{");
  tspec_printer_end_line(p);
  p->indent += INDENT;
}

void tspec_printer_end_block(tspec_printer_t *p) {
  p->indent -= INDENT;
  tspec_printer_put(p, "}");
}

// ---- texts for messages ----

/// The line as a string, and the printer's end.
static const char *take_line(tspec_printer_t *p) {
  const char *text = tspec_arena_strdup(p->arena, tspec_buf_get(&p->line), p->line.length);
  tspec_buf_deinit(&p->line);
  return text;
}

const char *tspec_print_sharding(tspec_arena_t *arena, const tspec_ast_sharding_t *sharding) {
  tspec_printer_t p = {.arena = arena};
  tspec_printer_sharding(&p, sharding);
  return take_line(&p);
}

const char *tspec_print_entry(tspec_arena_t *arena, const tspec_ast_entry_t *entry) {
  tspec_printer_t p = {.arena = arena};
  tspec_printer_entry(&p, entry);
  return take_line(&p);
}

const char *tspec_print_type(tspec_arena_t *arena, const tspec_ast_type_t *type) {
  tspec_printer_t p = {.arena = arena};
  tspec_printer_type(&p, type);
  return take_line(&p);
}

const char *tspec_print_expr(tspec_arena_t *arena, const tspec_ast_expr_t *expr) {
  tspec_printer_t p = {.arena = arena};
  tspec_printer_expr(&p, expr, 1);
  return take_line(&p);
}
