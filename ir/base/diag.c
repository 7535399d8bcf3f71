#include "ir/base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/vec.h"

void tspec_diag_init(tspec_diag_t *diag, tspec_sources_t *sources, FILE *stream) {
  *diag = (tspec_diag_t){.sources = sources, .stream = stream};
}

// A longer line is cut around its caret.
enum { LINE_COLUMNS = 160, COLUMNS_BEFORE_CARET = 40, TAB_COLUMNS = 8 };
static const char kCut[] = "...";

static bool continues_character(char byte) {
  return ((unsigned char)byte & 0xC0) == 0x80;
}

// Where the UTF-8 character after the one at `at` starts.
static size_t next_character(const char *line, size_t length, size_t at) {
  size_t end = at + 1;
  while (end < length && end < at + 4 && continues_character(line[end])) {
    ++end;
  }
  return end;
}

static size_t previous_character(const char *line, size_t at) {
  size_t start = at - 1;
  while (start > 0 && start + 4 > at && continues_character(line[start])) {
    --start;
  }
  return start;
}

// At most; a tab may take fewer.
static size_t columns(const char *line, size_t at) {
  return line[at] == '\t' ? TAB_COLUMNS : 1;
}

// The bytes [begin, end) of a line that are shown.
typedef struct window_t {
  size_t begin;
  size_t end;
} window_t;

// Moves `begin` back as long as no more than `limit` columns are added. Returns those.
static size_t widen_left(window_t *window, const char *line, size_t limit) {
  size_t used = 0;
  while (window->begin > 0) {
    size_t at = previous_character(line, window->begin);
    if (used + columns(line, at) > limit) {
      break;
    }
    used += columns(line, at);
    window->begin = at;
  }
  return used;
}

static size_t widen_right(window_t *window, const char *line, size_t length, size_t limit) {
  size_t used = 0;
  while (window->end < length && used + columns(line, window->end) <= limit) {
    used += columns(line, window->end);
    window->end = next_character(line, length, window->end);
  }
  return used;
}

// The whole line if it is short enough, else a part with the caret at byte `col` and as much as
// possible behind it.
static window_t shown_part(const char *line, size_t length, size_t col) {
  window_t window = {0, 0};
  widen_right(&window, line, length, LINE_COLUMNS);
  if (window.end == length) {
    return window;
  }
  size_t limit = LINE_COLUMNS - 2 * (sizeof kCut - 1);
  window = (window_t){col, col};
  size_t used = widen_left(&window, line, COLUMNS_BEFORE_CARET);
  used += widen_right(&window, line, length, limit - used);
  widen_left(&window, line, limit - used);
  return window;
}

static size_t line_length(const tspec_source_t *source, size_t start) {
  size_t end = start;
  while (end < source->length && source->text[end] != '\n' && source->text[end] != '\r') {
    ++end;
  }
  return end - start;
}

// One `mark` for each character of the bytes [begin, end); tabs stay, so that carets keep under
// their text.
static void print_marks(const char *line, size_t begin, size_t end, char mark, FILE *stream) {
  for (size_t at = begin; at < end; at = next_character(line, end, at)) {
    fputc(line[at] == '\t' ? '\t' : mark, stream);
  }
}

static void print_line(const tspec_source_t *source, tspec_range_t range, FILE *stream) {
  size_t start = source->line_starts[range.line - 1];
  const char *line = source->text + start;
  size_t length = line_length(source, start);
  size_t col = range.col - 1 > length ? length : range.col - 1;
  size_t end = range.end_line == range.line ? (size_t)range.end_col - 1 : length;
  window_t window = shown_part(line, length, col);
  const char *before = window.begin > 0 ? kCut : "";
  fprintf(stream, "  %s", before);
  fwrite(line + window.begin, 1, window.end - window.begin, stream);
  fprintf(stream, "%s\n  %*s", window.end < length ? kCut : "", (int)strlen(before), "");
  print_marks(line, window.begin, col, ' ', stream);
  fputc('^', stream);
  if (col < window.end) {
    print_marks(line, next_character(line, window.end, col), end < window.end ? end : window.end,
                '~', stream);
  }
  fputc('\n', stream);
}

void tspec_message_print(const tspec_sources_t *sources, const tspec_message_t *message,
                         FILE *stream) {
  static const char *const kNames[] = {"error", "warning", "note"};
  const tspec_source_t *source = tspec_sources_get(sources, message->range.file);
  bool placed = source != NULL && message->range.line > 0;
  if (placed) {
    fprintf(stream, "%s:%u:%u: ", source->path, message->range.line, message->range.col);
  } else if (message->severity != TSPEC_SEVERITY_NOTE) {
    fputs("tspecc: ", stream);
  }
  fprintf(stream, "%s: %s\n", kNames[message->severity], message->text);
  if (placed && message->range.col > 0 && message->range.line <= source->nlines &&
      source->length > 0) {
    print_line(source, message->range, stream);
  }
}

// Notes share the fate of the message before them.
static bool is_shown(const tspec_diag_t *diag, tspec_severity_t severity) {
  if (severity == TSPEC_SEVERITY_NOTE && diag->count > 0) {
    for (size_t i = diag->count; i-- > 0;) {
      if (diag->messages[i].severity != TSPEC_SEVERITY_NOTE) {
        severity = diag->messages[i].severity;
        break;
      }
    }
  }
  return severity != TSPEC_SEVERITY_ERROR || diag->max_errors == 0 ||
         diag->nerrors <= diag->max_errors;
}

static void report(tspec_diag_t *diag, tspec_severity_t severity, tspec_range_t range,
                   const char *format, va_list args) {
  tspec_arena_t *arena = diag->sources->arena;
  tspec_message_t message = {severity, range, tspec_arena_vprintf(arena, format, args)};
  if (severity != TSPEC_SEVERITY_NOTE) {
    ++*(severity == TSPEC_SEVERITY_ERROR ? &diag->nerrors : &diag->nwarnings);
  }
  bool shown = is_shown(diag, severity);
  if (diag->count == diag->capacity) {
    diag->messages =
        tspec_vec_grow(arena, diag->messages, diag->count, &diag->capacity, sizeof message);
  }
  diag->messages[diag->count++] = message;
  if (diag->stream != NULL && shown) {
    tspec_message_print(diag->sources, &message, diag->stream);
  }
}

void tspec_diag_error(tspec_diag_t *diag, tspec_range_t range, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(diag, TSPEC_SEVERITY_ERROR, range, format, args);
  va_end(args);
}

void tspec_diag_warning(tspec_diag_t *diag, tspec_range_t range, const char *format, ...) {
  if (diag->quiet_warnings) {
    return;
  }
  va_list args;
  va_start(args, format);
  report(diag, diag->warnings_are_errors ? TSPEC_SEVERITY_ERROR : TSPEC_SEVERITY_WARNING, range,
         format, args);
  va_end(args);
}

void tspec_diag_note(tspec_diag_t *diag, tspec_range_t range, const char *format, ...) {
  va_list args;
  va_start(args, format);
  report(diag, TSPEC_SEVERITY_NOTE, range, format, args);
  va_end(args);
}

static const char *check_context;
static void (*check_handler)(const char *message);

void tspec_check_context_set(const char *what) {
  check_context = what;
}

void tspec_check_handler_set(void (*handler)(const char *message)) {
  check_handler = handler;
}

void tspec_check_failed(const char *file, int line, const char *condition, const char *format,
                        ...) {
  char detail[512], message[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(detail, sizeof detail, format, args);
  va_end(args);
  snprintf(message, sizeof message, "%s:%d: internal compiler error%s%s: %s%s%s", file, line,
           check_context == NULL ? "" : " in pass ", check_context == NULL ? "" : check_context,
           condition, detail[0] == '\0' || detail[1] == '\0' ? "" : ":", detail);
  fprintf(stderr, "%s\n", message);
  if (check_handler != NULL) {
    check_handler(message);
  }
  abort();
}
