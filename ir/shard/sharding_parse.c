// The notation of shardings: grammar.ebnf's `sharding`, `entry` and `mesh_ref`.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "ir/base/str.h"
#include "ir/base/vec.h"
#include "ir/shard/axes.h"
#include "ir/shard/sharding.h"

typedef struct parser_t {
  tspec_arena_t *arena;
  const tspec_mesh_t *mesh;
  const char *text;
  const char *at;
  const char *what;
  tspec_range_t range;
  tspec_diag_t *diag;
} parser_t;

typedef TSPEC_VEC(tspec_axis_t) axis_vec_t;
typedef TSPEC_VEC(tspec_dim_t) dim_vec_t;

static void skip_blanks(parser_t *parser) {
  while (isspace((unsigned char)*parser->at)) {
    parser->at++;
  }
}

static bool accept(parser_t *parser, const char *token) {
  skip_blanks(parser);
  size_t length = strlen(token);
  if (strncmp(parser->at, token, length) != 0) {
    return false;
  }
  parser->at += length;
  return true;
}

/// Reports what was wanted at the current place.
static bool refuse(parser_t *parser, const char *wanted) {
  skip_blanks(parser);
  const char *got =
      *parser->at == '\0' ? "the end" : tspec_arena_printf(parser->arena, "'%c'", *parser->at);
  tspec_diag_error(parser->diag, parser->range, "sharding '%s' of %s: expected %s, got %s",
                   parser->text, parser->what, wanted, got);
  return false;
}

static bool is_name_start(char c) {
  return isalpha((unsigned char)c) || c == '_';
}

static const char *parse_name(parser_t *parser) {
  skip_blanks(parser);
  const char *begin = parser->at;
  if (!is_name_start(*begin)) {
    return NULL;
  }
  while (isalnum((unsigned char)*parser->at) || *parser->at == '_') {
    parser->at++;
  }
  return tspec_arena_strdup(parser->arena, begin, (size_t)(parser->at - begin));
}

static bool parse_int(parser_t *parser, int64_t limit, int64_t *out_value) {
  skip_blanks(parser);
  if (!isdigit((unsigned char)*parser->at)) {
    return refuse(parser, "a number");
  }
  int64_t value = 0;
  for (; isdigit((unsigned char)*parser->at); parser->at++) {
    value = value * 10 + (*parser->at - '0');
    if (value > limit) {
      tspec_diag_error(parser->diag, parser->range,
                       "sharding '%s' of %s: a number is larger than %" PRId64, parser->text,
                       parser->what, limit);
      return false;
    }
  }
  *out_value = value;
  return true;
}

static bool refuse_axis(parser_t *parser, const char *name, const char *place) {
  tspec_names_t names = {0};
  for (int i = 0; i < parser->mesh->naxes; i++) {
    const char *axis = parser->mesh->axes[i].name;
    tspec_names_set(parser->arena, &names, axis, (void *)(uintptr_t)axis);
  }
  const char *near = tspec_names_nearest(&names, name);
  const char *hint;
  if (near != NULL) {
    hint = tspec_arena_printf(parser->arena, "did you mean '%s'?", near);
  } else if (parser->mesh->naxes == 0) {
    hint = tspec_arena_printf(parser->arena, "there is no mesh; declare 'mesh %s = 1'", name);
  } else {
    hint = tspec_arena_printf(parser->arena, "the mesh is %s; an axis of size 1 may be added to it",
                              tspec_mesh_print(parser->arena, parser->mesh));
  }
  tspec_diag_error(parser->diag, parser->range, "unknown mesh axis '%s' in %s of %s; %s", name,
                   place, parser->what, hint);
  return false;
}

/// An axis or a piece of one. `place` says where, for messages: "dim 1".
static bool parse_axis(parser_t *parser, const char *place, tspec_axis_t *out_axis) {
  const char *name = parse_name(parser);
  if (name == NULL) {
    return refuse(parser, "a mesh axis, '-', '?' or '...'");
  }
  int index = tspec_mesh_find(parser->mesh, name);
  if (index < 0) {
    return refuse_axis(parser, name, place);
  }
  *out_axis = tspec_axis_full(parser->mesh, index);
  if (!accept(parser, ":")) {
    return true;
  }
  int64_t size = parser->mesh->axes[index].size;
  if (!accept(parser, "(")) {
    return refuse(parser, "'(' of a piece like 'model:(2)4'");
  }
  if (!parse_int(parser, INT32_MAX, &out_axis->pre)) {
    return false;
  }
  if (!accept(parser, ")")) {
    return refuse(parser, "')' of a piece like 'model:(2)4'");
  }
  if (!parse_int(parser, INT32_MAX, &out_axis->size)) {
    return false;
  }
  if (out_axis->pre < 1 || out_axis->size < 2 || size % (out_axis->pre * out_axis->size) != 0) {
    tspec_diag_error(parser->diag, parser->range,
                     "'%s:(%" PRId64 ")%" PRId64 "' in %s of %s is no piece of '%s': a piece has "
                     "at least 2 parts, and %" PRId64 " * %" PRId64
                     " must divide the size %" PRId64,
                     name, out_axis->pre, out_axis->size, place, parser->what, name, out_axis->pre,
                     out_axis->size, size);
    return false;
  }
  return true;
}

static bool parse_priority(parser_t *parser, tspec_dim_t *dim) {
  int64_t priority = 0;
  if (accept(parser, "!")) {
    if (!parse_int(parser, INT32_MAX, &priority)) {
      return false;
    }
    dim->priority = (int)priority;
  }
  return true;
}

static bool parse_dim(parser_t *parser, int index, tspec_dim_t *out_dim) {
  *out_dim = (tspec_dim_t){0};
  if (accept(parser, "-")) {
    skip_blanks(parser);
    if (*parser->at == '!') {
      tspec_diag_error(parser->diag, parser->range,
                       "dim %d of %s: '-' takes no priority, as nothing splits it; write '-' or "
                       "'?!n'",
                       index, parser->what);
      return false;
    }
    return true;
  }
  if (accept(parser, "?")) {
    out_dim->open = true;
    return parse_priority(parser, out_dim);
  }
  const char *place = tspec_arena_printf(parser->arena, "dim %d", index);
  axis_vec_t axes = {0};
  do {
    tspec_axis_t axis = {0};
    if (!parse_axis(parser, place, &axis)) {
      return false;
    }
    tspec_axis_t merged;
    if (axes.count > 0 && tspec_axis_merge(axes.items[axes.count - 1], axis, &merged)) {
      axes.items[axes.count - 1] = merged;
    } else {
      TSPEC_VEC_PUSH(parser->arena, &axes, axis);
    }
  } while (accept(parser, "*"));
  out_dim->axes = axes.items;
  out_dim->naxes = (int)axes.count;
  out_dim->open = accept(parser, "?");
  return parse_priority(parser, out_dim);
}

/// The list in brackets. `out_dots`: where '...' stands, or -1.
static bool parse_dims(parser_t *parser, dim_vec_t *dims, int *out_dots) {
  *out_dots = -1;
  if (!accept(parser, "[")) {
    return refuse(parser, "'['");
  }
  if (accept(parser, "]")) {
    return true;
  }
  do {
    if (accept(parser, "...")) {
      if (*out_dots >= 0) {
        tspec_diag_error(parser->diag, parser->range, "sharding '%s' of %s has '...' twice",
                         parser->text, parser->what);
        return false;
      }
      *out_dots = (int)dims->count;
      continue;
    }
    tspec_dim_t dim;
    if (!parse_dim(parser, (int)dims->count, &dim)) {
      return false;
    }
    TSPEC_VEC_PUSH(parser->arena, dims, dim);
  } while (accept(parser, ","));
  return accept(parser, "]") || refuse(parser, "',' or ']'");
}

static bool parse_pending(parser_t *parser, axis_vec_t *axes, tspec_reduce_t *out_kind) {
  *out_kind = TSPEC_REDUCE_SUM;
  for (bool first = true; skip_blanks(parser), *parser->at != '\0'; first = false) {
    const char *name = parse_name(parser);
    tspec_reduce_t kind;
    if (name == NULL || !tspec_reduce_parse(name, &kind) || kind > TSPEC_REDUCE_MIN) {
      return refuse(parser, "'sum(axis)', 'max(axis)' or 'min(axis)' after the list");
    }
    if (!first && kind != *out_kind) {
      tspec_diag_error(parser->diag, parser->range,
                       "%s cannot be pending in '%s' and '%s' at once; keep one of them",
                       parser->what, tspec_reduce_name(*out_kind), name);
      return false;
    }
    *out_kind = kind;
    if (!accept(parser, "(")) {
      return refuse(parser, "'('");
    }
    const char *place = tspec_arena_printf(parser->arena, "'%s( )'", name);
    do {
      tspec_axis_t axis;
      if (!parse_axis(parser, place, &axis)) {
        return false;
      }
      TSPEC_VEC_PUSH(parser->arena, axes, axis);
    } while (accept(parser, ","));
    if (!accept(parser, ")")) {
      return refuse(parser, "',' or ')'");
    }
  }
  return true;
}

static bool refuse_rank(parser_t *parser, int count, int dots, int rank) {
  tspec_diag_error(parser->diag, parser->range,
                   "sharding '%s' has %s%d %s, but %s has rank %d; write one entry per dim",
                   parser->text, dots >= 0 ? "at least " : "", count,
                   count == 1 ? "entry" : "entries", parser->what, rank);
  return false;
}

/// Puts '?' for '...' (at entry `dots`; -1: none) and checks the number of entries; "[]" fits any
/// rank.
static bool fit_rank(parser_t *parser, dim_vec_t *dims, int dots, int rank) {
  if (rank < 0) {
    if (dots >= 0) {
      tspec_diag_error(parser->diag, parser->range, "sharding '%s' of %s must not hold '...'",
                       parser->text, parser->what);
    }
    return dots < 0;
  }
  int count = (int)dims->count;
  bool any_rank = count == 0 && dots < 0;
  bool fits = count == rank || any_rank || (dots >= 0 && count < rank);
  if (!fits) {
    return refuse_rank(parser, count, dots, rank);
  }
  dim_vec_t fitted = {0};
  int at = dots >= 0 ? dots : count;
  for (int i = 0; i < rank; i++) {
    int from = i < at ? i : i - (rank - count);
    bool filled = i >= at && from < at;
    TSPEC_VEC_PUSH(parser->arena, &fitted,
                   filled ? (tspec_dim_t){.open = !any_rank} : dims->items[from]);
  }
  *dims = fitted;
  return true;
}

const tspec_sharding_t *tspec_sharding_parse(tspec_arena_t *arena, const tspec_mesh_t *mesh,
                                             const char *text, int rank, tspec_about_t about,
                                             tspec_diag_t *diag) {
  parser_t parser = {.arena = arena,
                     .mesh = mesh,
                     .text = text,
                     .at = text,
                     .what = about.what,
                     .range = about.range,
                     .diag = diag};
  dim_vec_t dims = {0};
  axis_vec_t pending = {0};
  int dots = -1;
  tspec_reduce_t kind;
  if (!parse_dims(&parser, &dims, &dots) || !parse_pending(&parser, &pending, &kind) ||
      !fit_rank(&parser, &dims, dots, rank)) {
    return NULL;
  }
  tspec_sharding_t *sharding = TSPEC_ARENA_NEW(arena, tspec_sharding_t, 1);
  *sharding = (tspec_sharding_t){.rank = (int)dims.count,
                                 .dims = dims.items,
                                 .npending = (int)pending.count,
                                 .pending = pending.items,
                                 .pending_kind = kind};
  if (!tspec_sharding_check(mesh, sharding, about.what, about.range, diag)) {
    return NULL;
  }
  return tspec_sharding_with_pending(arena, mesh, sharding, kind, pending.items,
                                     (int)pending.count);
}
