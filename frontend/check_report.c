#include <stdarg.h>
#include <string.h>

#include "frontend/check_ops.h"

enum { MAX_TRACE = 3 };

// A call whose text holds the place of the error says nothing new.
static bool holds(tspec_range_t outer, tspec_range_t inner) {
  bool after = outer.line < inner.line || (outer.line == inner.line && outer.col <= inner.col);
  bool before =
      inner.line < outer.end_line || (inner.line == outer.end_line && inner.col < outer.end_col);
  return outer.file == inner.file && after && before;
}

static void name_caller(tspec_checker_t *c, const tspec_frame_t *frame) {
  if (frame->closure != NULL) {
    tspec_diag_note(c->diag, frame->call_range, "in this call of '%s'", frame->closure->name);
  } else if (frame->called != NULL) {
    tspec_diag_note(c->diag, frame->call_range, "in this update by '%s'", frame->called);
  } else if (frame->self != NULL) {
    tspec_diag_note(c->diag, frame->call_range, "in the instance '%s'", frame->self->path);
  }
}

void tspec_check_flush_trace(tspec_checker_t *c) {
  const tspec_frame_t *frame = c->trace;
  c->trace = NULL;
  for (int i = 0; frame != NULL && frame->caller != NULL && i < MAX_TRACE; frame = frame->caller) {
    if (frame->call_range.line > 0 && !holds(frame->call_range, c->trace_range)) {
      name_caller(c, frame);
      ++i;
    }
  }
}

// Inlining and unrolling meet the same mistake many times; its first time is enough.
static bool is_repeated(tspec_checker_t *c, tspec_range_t range, const char *text) {
  const char *key =
      tspec_arena_printf(c->arena, "%u:%u:%u:%s", range.file, range.line, range.col, text);
  if (tspec_names_get(&c->reported, key) != NULL) {
    return true;
  }
  tspec_names_set(c->arena, &c->reported, key, (void *)(uintptr_t)key);
  return false;
}

static void begin_message(tspec_checker_t *c, tspec_range_t range, const char *text,
                          bool is_error) {
  tspec_check_flush_trace(c);
  c->nerrors += is_error;
  c->last_dropped = is_repeated(c, range, text);
  if (c->last_dropped) {
    return;
  }
  if (is_error) {
    tspec_diag_error(c->diag, range, "%s", text);
    c->trace = c->frame;
    c->trace_range = range;
  } else {
    tspec_diag_warning(c->diag, range, "%s", text);
    c->last_dropped = c->diag->quiet_warnings;
  }
}

void tspec_check_error(tspec_checker_t *c, tspec_range_t range, const char *format, ...) {
  va_list args;
  va_start(args, format);
  begin_message(c, range, tspec_arena_vprintf(c->arena, format, args), true);
  va_end(args);
}

void tspec_check_warning(tspec_checker_t *c, tspec_range_t range, const char *format, ...) {
  va_list args;
  va_start(args, format);
  begin_message(c, range, tspec_arena_vprintf(c->arena, format, args), false);
  va_end(args);
}

void tspec_check_note(tspec_checker_t *c, tspec_range_t range, const char *format, ...) {
  if (c->last_dropped) {
    return;
  }
  va_list args;
  va_start(args, format);
  tspec_diag_note(c->diag, range, "%s", tspec_arena_vprintf(c->arena, format, args));
  va_end(args);
}

bool tspec_check_spend(tspec_checker_t *c, tspec_range_t range, int64_t steps) {
  if (c->steps_left < 0) {
    return false;
  }
  c->steps_left -= steps;
  if (c->steps_left < 0) {
    tspec_check_error(c, range,
                      "with calls inlined and loops unrolled the program is too long: more than "
                      "%lld expressions, calls and iterations",
                      (long long)c->max_steps);
  }
  return c->steps_left >= 0;
}

bool tspec_check_enter(tspec_checker_t *c, tspec_range_t range, const char *what) {
  if (!tspec_check_spend(c, range, 1)) {
    return false;
  }
  if (c->depth >= TSPEC_CHECK_MAX_DEPTH) {
    tspec_check_error(c, range, "%s nest deeper than %d", what, TSPEC_CHECK_MAX_DEPTH);
    return false;
  }
  ++c->depth;
  return true;
}

void tspec_check_leave(tspec_checker_t *c) {
  --c->depth;
}

void tspec_check_forward(tspec_checker_t *c, const tspec_diag_t *diag) {
  for (size_t i = 0; i < diag->count; ++i) {
    const tspec_message_t *message = &diag->messages[i];
    if (message->severity == TSPEC_SEVERITY_NOTE) {
      tspec_check_note(c, message->range, "%s", message->text);
    } else {
      begin_message(c, message->range, message->text, message->severity == TSPEC_SEVERITY_ERROR);
    }
  }
}

tspec_range_t tspec_check_user_range(const tspec_checker_t *c, tspec_range_t range) {
  for (const tspec_frame_t *at = c->frame; at != NULL && at->home == &c->library; at = at->caller) {
    range = at->call_range;
  }
  return range;
}

static const char *describe_list(tspec_checker_t *c, const tspec_cvs_t *list) {
  const char *text = "";
  for (size_t i = 0; i < list->count && i < 8; ++i) {
    const char *item = list->items[i].kind == TSPEC_CV_NUMBER
                           ? tspec_number_text(c->arena, list->items[i].u.number)
                           : tspec_check_describe(c, list->items[i]);
    text = tspec_arena_printf(c->arena, "%s%s%s", text, i > 0 ? ", " : "", item);
  }
  return tspec_arena_printf(c->arena, "the list [%s%s]", text, list->count > 8 ? ", .." : "");
}

const char *tspec_check_describe(tspec_checker_t *c, tspec_cv_t cv) {
  switch (cv.kind) {
  case TSPEC_CV_ERROR:
    return "an error";
  case TSPEC_CV_NONE:
    return "a call without results";
  case TSPEC_CV_NUMBER:
    return tspec_arena_printf(c->arena, "the number %s", tspec_number_text(c->arena, cv.u.number));
  case TSPEC_CV_TENSOR:
    return tspec_type_print(c->arena, cv.u.tensor->type);
  case TSPEC_CV_STRING:
    return tspec_arena_printf(c->arena, "the string \"%s\"", cv.u.string);
  case TSPEC_CV_DTYPE:
    return tspec_arena_printf(c->arena, "the element type %s", tspec_dtype_name(cv.u.dtype));
  case TSPEC_CV_LIST:
    return describe_list(c, cv.u.list);
  case TSPEC_CV_TUPLE:
    return tspec_arena_printf(c->arena, "%zu values", cv.u.list->count);
  case TSPEC_CV_FUNCTION:
    return tspec_arena_printf(c->arena, "the function '%s'", cv.u.function->name);
  case TSPEC_CV_BUILTIN:
    return tspec_arena_printf(c->arena, "the built-in '%s'", cv.u.builtin->name);
  case TSPEC_CV_INSTANCE:
    return tspec_arena_printf(c->arena, "the instance '%s'", cv.u.instance->path);
  case TSPEC_CV_FAMILY:
    return tspec_arena_printf(c->arena, "the instances '%s[..]'", cv.u.family->path);
  case TSPEC_CV_SLOT:
    return tspec_type_print(c->arena, cv.u.slot->type);
  case TSPEC_CV_MODULE:
    return tspec_arena_printf(c->arena, "the module '%s'", cv.u.module->name.text);
  case TSPEC_CV_PARAMS:
  case TSPEC_CV_TREE:
    return "a tree like the parameters";
  case TSPEC_CV_MESH_AXIS:
    return tspec_arena_printf(c->arena, "the mesh axis '%s'",
                              c->program->mesh.axes[cv.u.mesh_axis].name);
  }
  return "?";
}

const char *tspec_check_text(tspec_checker_t *c, tspec_range_t range) {
  const tspec_source_t *source = tspec_sources_get(c->sources, range.file);
  if (source == NULL || range.line == 0 || range.end_line == 0 || range.end_line > source->nlines) {
    return "";
  }
  size_t begin = source->line_starts[range.line - 1] + range.col - 1;
  size_t end = source->line_starts[range.end_line - 1] + range.end_col - 1;
  if (begin > end || end > source->length) {
    return "";
  }
  char *text = tspec_arena_strdup(c->arena, source->text + begin, end - begin);
  size_t length = 0;
  for (const char *from = text; *from != '\0'; ++from) {
    bool blank = strchr(" \t\r\n", *from) != NULL;
    if (!blank || (length > 0 && text[length - 1] != ' ')) {
      text[length++] = blank ? ' ' : *from;
    }
  }
  text[length] = '\0';
  return text;
}
