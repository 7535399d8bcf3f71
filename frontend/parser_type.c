// Types and shardings.
#include <string.h>

#include "frontend/parser_internal.h"

static tspec_ast_dim_t dim(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_dim_t dim = {.kind = TSPEC_AST_DIM_EXPR};
  if (tspec_parser_take(p, TSPEC_TOKEN_ELLIPSIS)) {
    dim.kind = TSPEC_AST_DIM_ELLIPSIS;
  } else if (tspec_parser_take(p, TSPEC_TOKEN_DOLLAR)) {
    dim.kind = TSPEC_AST_DIM_BIND;
    dim.name = tspec_parser_name(p, "the name of a size after '$'");
  } else {
    dim.expr = tspec_parser_expr(p);
  }
  dim.range = tspec_parser_range(p, first);
  return dim;
}

static void dims(tspec_parser_t *p, tspec_ast_type_t *type) {
  const tspec_token_t *open = tspec_parser_token(p);
  if (!tspec_parser_take(p, TSPEC_TOKEN_LBRACKET)) {
    return;
  }
  TSPEC_VEC(tspec_ast_dim_t) dims = {0};
  if (!tspec_parser_at(p, TSPEC_TOKEN_RBRACKET)) {
    do {
      TSPEC_VEC_PUSH(p->arena, &dims, dim(p));
      const tspec_ast_dim_t *last = &dims.items[dims.count - 1];
      if (last->kind == TSPEC_AST_DIM_ELLIPSIS && dims.count > 1) {
        tspec_parser_fail(p, last->range, "'...' stands first in a type");
      }
    } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RBRACKET));
  }
  tspec_parser_need_close(p, TSPEC_TOKEN_RBRACKET, open);
  type->dims = dims.items;
  type->ndims = dims.count;
}

tspec_ast_type_t *tspec_parser_type(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_type_t *type = TSPEC_ARENA_NEW(p->arena, tspec_ast_type_t, 1);
  if (tspec_parser_take(p, TSPEC_TOKEN_DOLLAR)) {
    type->bind = tspec_parser_name(p, "the name of an element type after '$'");
  } else if (tspec_parser_take(p, TSPEC_TOKEN_DTYPE)) {
    tspec_dtype_parse(first->text, first->length, &type->dtype);
  } else {
    tspec_parser_expected(p, "a type", "");
  }
  dims(p, type);
  type->range = tspec_parser_range(p, first);
  return type;
}

static tspec_ast_mesh_ref_t mesh_ref(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_mesh_ref_t ref = {.axis = tspec_parser_name(p, "'-', '?' or a mesh axis")};
  if (tspec_parser_take(p, TSPEC_TOKEN_COLON)) {
    ref.is_sub = true;
    tspec_parser_need(p, TSPEC_TOKEN_LPAREN);
    ref.pre = tspec_parser_integer(p, "an integer as in model:(2)4");
    tspec_parser_need(p, TSPEC_TOKEN_RPAREN);
    ref.size = tspec_parser_integer(p, "the size of a sub-axis as in model:(2)4");
  }
  ref.range = tspec_parser_range(p, first);
  return ref;
}

static void mesh_refs(tspec_parser_t *p, tspec_ast_entry_t *entry) {
  TSPEC_VEC(tspec_ast_mesh_ref_t) refs = {0};
  do {
    TSPEC_VEC_PUSH(p->arena, &refs, mesh_ref(p));
  } while (tspec_parser_take(p, TSPEC_TOKEN_STAR));
  entry->refs = refs.items;
  entry->nrefs = refs.count;
  entry->open = tspec_parser_take(p, TSPEC_TOKEN_QUESTION);
}

tspec_ast_entry_t tspec_parser_entry(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_entry_t entry = {0};
  if (tspec_parser_take(p, TSPEC_TOKEN_ELLIPSIS)) {
    entry.is_ellipsis = true;
  } else if (!tspec_parser_take(p, TSPEC_TOKEN_MINUS)) {
    if (tspec_parser_take(p, TSPEC_TOKEN_QUESTION)) {
      entry.open = true;
    } else {
      mesh_refs(p, &entry);
    }
    if (tspec_parser_take(p, TSPEC_TOKEN_NOT)) {
      entry.has_priority = true;
      entry.priority = tspec_parser_integer(p, "a priority after '!'");
    }
  }
  entry.range = tspec_parser_range(p, first);
  return entry;
}

static void entries(tspec_parser_t *p, tspec_ast_sharding_t *sharding) {
  const tspec_token_t *open = tspec_parser_token(p);
  if (!tspec_parser_take(p, TSPEC_TOKEN_LBRACKET)) {
    tspec_parser_expected(p, "a sharding in '[ ]'", "");
    return;
  }
  TSPEC_VEC(tspec_ast_entry_t) entries = {0};
  bool has_ellipsis = false;
  if (!tspec_parser_at(p, TSPEC_TOKEN_RBRACKET)) {
    do {
      tspec_ast_entry_t entry = tspec_parser_entry(p);
      if (entry.is_ellipsis && has_ellipsis) {
        tspec_parser_fail(p, entry.range, "'...' stands at most once in a sharding");
      }
      has_ellipsis = has_ellipsis || entry.is_ellipsis;
      TSPEC_VEC_PUSH(p->arena, &entries, entry);
    } while (tspec_parser_take_comma_before(p, TSPEC_TOKEN_RBRACKET));
  }
  tspec_parser_need_close(p, TSPEC_TOKEN_RBRACKET, open);
  sharding->entries = entries.items;
  sharding->nentries = entries.count;
}

/// At 'sum(', 'max(' or 'min('. The words are no keywords, so another meaning of them may follow a
/// sharding.
static bool at_pending(const tspec_parser_t *p, tspec_reduce_t *out_kind) {
  static const tspec_reduce_t kinds[] = {TSPEC_REDUCE_SUM, TSPEC_REDUCE_MAX, TSPEC_REDUCE_MIN};
  static const char *const words[] = {"sum", "max", "min"};
  for (size_t i = 0; i < 3; i++) {
    if (tspec_parser_at_word(p, words[i]) && tspec_parser_peek_next(p) == TSPEC_TOKEN_LPAREN) {
      *out_kind = kinds[i];
      return true;
    }
  }
  return false;
}

tspec_ast_sharding_t *tspec_parser_sharding(tspec_parser_t *p) {
  const tspec_token_t *first = tspec_parser_token(p);
  tspec_ast_sharding_t *sharding = TSPEC_ARENA_NEW(p->arena, tspec_ast_sharding_t, 1);
  entries(p, sharding);
  TSPEC_VEC(tspec_ast_pending_t) pending = {0};
  tspec_reduce_t kind = TSPEC_REDUCE_SUM;
  while (at_pending(p, &kind)) {
    const tspec_token_t *word = tspec_parser_token(p);
    tspec_parser_bump(p);
    const tspec_token_t *open = tspec_parser_token(p);
    tspec_parser_bump(p);
    tspec_ast_pending_t item = {.kind = kind, .axes = tspec_parser_names(p, "a mesh axis")};
    tspec_parser_need_close(p, TSPEC_TOKEN_RPAREN, open);
    item.range = tspec_parser_range(p, word);
    TSPEC_VEC_PUSH(p->arena, &pending, item);
  }
  sharding->pending = pending.items;
  sharding->npending = pending.count;
  sharding->range = tspec_parser_range(p, first);
  return sharding;
}

tspec_ast_sharding_t *tspec_parser_at_sharding(tspec_parser_t *p) {
  return tspec_parser_take(p, TSPEC_TOKEN_AT) ? tspec_parser_sharding(p) : NULL;
}

tspec_ast_storage_t tspec_parser_storage(tspec_parser_t *p) {
  tspec_ast_storage_t storage = {.stored = tspec_parser_sharding(p)};
  if (tspec_parser_take_word(p, "use")) {
    storage.use = tspec_parser_sharding(p);
  }
  return storage;
}
