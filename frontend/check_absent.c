// Parts of the language that are checked, but not compiled. Each gives values of the right type, so
// that what follows is checked as well; the entry is marked and leaves the program in the end with
// all its ops (check_entry.c), so no pass ever meets a value that nothing computes.
#include "frontend/check_ops.h"

void tspec_check_absent(tspec_checker_t *c, tspec_range_t range, const char *what) {
  if (c->entry == NULL && c->declaring != NULL) {
    c->declaring->absent = c->declaring->absent == NULL ? what : c->declaring->absent;
    return;
  }
  if (c->entry == NULL) {
    tspec_check_error(c, range,
                      "only compile-time numbers here: this would be computed at run time");
    return;
  }
  if (c->entry->absent != NULL) {
    return;
  }
  // In the standard library the user has written nothing: the place is the call that led there.
  for (const tspec_frame_t *at = c->frame; at != NULL && at->home == &c->library; at = at->caller) {
    range = at->call_range;
  }
  c->entry->absent = what;
  c->entry->absent_range = range;
}

tspec_value_t *tspec_emit_absent(tspec_checker_t *c, tspec_site_t site, tspec_type_t type,
                                 int noperands, tspec_value_t *const *operands) {
  int varies = 0;
  for (int i = 0; i < noperands; ++i) {
    if (operands[i] == NULL) {
      return NULL;
    }
    varies |= operands[i]->id;
  }
  if (!tspec_type_fits(type)) {
    tspec_check_error(c, site.range, "'%s' would make %s, more than 2^50 bytes", site.spelling,
                      tspec_type_print(c->arena, type));
    return NULL;
  }
  tspec_value_t *value = TSPEC_ARENA_NEW(c->arena, tspec_value_t, 1);
  value->type = type;
  value->range = site.range;
  value->offset_bytes = -1;
  value->id = varies;
  return value;
}

tspec_type_t tspec_check_resized(tspec_checker_t *c, tspec_type_t type, int dim, int64_t size) {
  int64_t *dims = tspec_arena_copy(c->arena, type.dims, sizeof(int64_t) * (size_t)type.rank);
  dims[dim] = size;
  return (tspec_type_t){.dtype = type.dtype, .rank = type.rank, .dims = dims};
}

tspec_type_t tspec_check_stacked(tspec_checker_t *c, tspec_type_t type, int64_t size) {
  int64_t *dims = TSPEC_ARENA_NEW(c->arena, int64_t, type.rank + 1);
  dims[0] = size;
  for (int i = 0; i < type.rank; ++i) {
    dims[i + 1] = type.dims[i];
  }
  return (tspec_type_t){.dtype = type.dtype, .rank = type.rank + 1, .dims = dims};
}

tspec_type_t tspec_check_row(tspec_type_t type) {
  return (tspec_type_t){.dtype = type.dtype, .rank = type.rank - 1, .dims = type.dims + 1};
}
