#include "ir/base/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- growing text -----------------------------------------------------------------------------

void tspec_buf_deinit(tspec_buf_t *buf) {
  free(buf->text);
  *buf = (tspec_buf_t){0};
}

static void buf_reserve(tspec_buf_t *buf, size_t more) {
  size_t wanted = buf->length + more + 1;
  if (wanted <= buf->capacity) {
    return;
  }
  size_t capacity = buf->capacity == 0 ? 64 : buf->capacity;
  while (capacity < wanted) {
    capacity *= 2;
  }
  char *text = realloc(buf->text, capacity);
  if (text == NULL) {
    fprintf(stderr, "tspec: out of memory (%zu bytes)\n", capacity);
    exit(70);
  }
  buf->text = text;
  buf->capacity = capacity;
}

void tspec_buf_append(tspec_buf_t *buf, const char *text, size_t length) {
  buf_reserve(buf, length);
  if (length > 0) {
    memcpy(buf->text + buf->length, text, length);
  }
  buf->length += length;
  buf->text[buf->length] = '\0';
}

void tspec_buf_puts(tspec_buf_t *buf, const char *text) {
  tspec_buf_append(buf, text, strlen(text));
}

void tspec_buf_vprintf(tspec_buf_t *buf, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  if (length > 0) {
    buf_reserve(buf, (size_t)length);
    vsnprintf(buf->text + buf->length, (size_t)length + 1, format, again);
    buf->length += (size_t)length;
  }
  va_end(again);
}

void tspec_buf_printf(tspec_buf_t *buf, const char *format, ...) {
  va_list args;
  va_start(args, format);
  tspec_buf_vprintf(buf, format, args);
  va_end(args);
}

const char *tspec_buf_get(const tspec_buf_t *buf) {
  return buf->text == NULL ? "" : buf->text;
}

void tspec_buf_put_double(tspec_buf_t *buf, double number) {
  char text[40];
  // Whole numbers that every reader takes for exact stay without an exponent: 200, not 2e+02.
  if (number == trunc(number) && fabs(number) < 1e15) {
    snprintf(text, sizeof text, "%.0f", number);
    tspec_buf_puts(buf, text);
    return;
  }
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number) {
      break;
    }
  }
  tspec_buf_puts(buf, text);
}

// ---- names ------------------------------------------------------------------------------------

// FNV-1a: a fixed function of the text, so the table is the same on every run.
static uint32_t hash_name(const char *name) {
  uint32_t hash = 2166136261u;
  for (const char *c = name; *c != '\0'; ++c) {
    hash = (hash ^ (unsigned char)*c) * 16777619u;
  }
  return hash;
}

// The slot that holds `name`, or the empty one where it belongs.
static size_t find_slot(const tspec_names_t *names, const char *name) {
  size_t slot = hash_name(name) & (names->nslots - 1);
  while (names->slots[slot] != 0 &&
         strcmp(names->entries[names->slots[slot] - 1].name, name) != 0) {
    slot = (slot + 1) & (names->nslots - 1);
  }
  return slot;
}

void *tspec_names_get(const tspec_names_t *names, const char *name) {
  if (names->nslots == 0) {
    return NULL;
  }
  uint32_t index = names->slots[find_slot(names, name)];
  return index == 0 ? NULL : names->entries[index - 1].value;
}

static void names_grow(tspec_arena_t *arena, tspec_names_t *names) {
  names->nslots = names->nslots == 0 ? 16 : names->nslots * 2;
  names->slots = TSPEC_ARENA_NEW(arena, uint32_t, names->nslots);
  for (size_t i = 0; i < names->count; ++i) {
    names->slots[find_slot(names, names->entries[i].name)] = (uint32_t)i + 1;
  }
  size_t capacity = names->nslots / 2;
  struct tspec_names_entry_t *entries = tspec_arena_alloc(arena, capacity * sizeof *names->entries);
  if (names->count > 0) {
    memcpy(entries, names->entries, names->count * sizeof *entries);
  }
  names->entries = entries;
  names->capacity = capacity;
}

void tspec_names_set(tspec_arena_t *arena, tspec_names_t *names, const char *name, void *value) {
  if (names->count == names->capacity) {
    names_grow(arena, names);
  }
  size_t slot = find_slot(names, name);
  if (names->slots[slot] == 0) {
    names->entries[names->count] = (struct tspec_names_entry_t){name, value};
    names->slots[slot] = (uint32_t)++names->count;
  } else {
    names->entries[names->slots[slot] - 1].value = value;
  }
}

const char *tspec_names_nearest(const tspec_names_t *names, const char *name) {
  size_t limit = strlen(name) / 3;
  size_t best = limit < 1 ? 2 : limit + 1;
  const char *nearest = NULL;
  for (size_t i = 0; i < names->count; ++i) {
    size_t distance = tspec_str_distance(names->entries[i].name, name);
    if (distance < best) {
      best = distance;
      nearest = names->entries[i].name;
    }
  }
  return nearest;
}

static size_t min3(size_t a, size_t b, size_t c) {
  size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

// Damerau's restricted distance over three rows. Names longer than the rows differ too much to
// help.
size_t tspec_str_distance(const char *a, const char *b) {
  enum { LONGEST = 128 };
  size_t rows[3][LONGEST + 1];
  size_t na = strlen(a), nb = strlen(b);
  if (na > LONGEST || nb > LONGEST) {
    return strcmp(a, b) == 0 ? 0 : (na > nb ? na : nb);
  }
  for (size_t j = 0; j <= nb; ++j) {
    rows[0][j] = j;
  }
  for (size_t i = 1; i <= na; ++i) {
    size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
    row[0] = i;
    for (size_t j = 1; j <= nb; ++j) {
      size_t replace = above[j - 1] + (a[i - 1] != b[j - 1]);
      row[j] = min3(above[j] + 1, row[j - 1] + 1, replace);
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && before[j - 2] + 1 < row[j]) {
        row[j] = before[j - 2] + 1;
      }
    }
  }
  return rows[na % 3][nb];
}
