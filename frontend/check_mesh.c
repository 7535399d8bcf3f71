#include <stdlib.h>
#include <string.h>

#include "frontend/check_ops.h"

// ---- mesh ------------------------------------------------------------------------------------

enum { INFERRED = -1 };

typedef TSPEC_VEC(tspec_mesh_axis_t) mesh_axes_t;

static bool check_bandwidth(tspec_checker_t *c, const tspec_ast_mesh_axis_t *axis,
                            double *out_bytes_per_second) {
  static const struct {
    const char *name;
    double bytes;
  } kUnits[] = {{"B", 1},         {"KB", 1e3},           {"MB", 1e6},
                {"GB", 1e9},      {"TB", 1e12},          {"KiB", 1024},
                {"MiB", 1048576}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  if (strcmp(axis->per.text, "s") != 0) {
    tspec_check_error(c, axis->per.range, "a bandwidth is per 's', not per '%s'", axis->per.text);
    return false;
  }
  if (axis->bandwidth <= 0) {
    tspec_check_error(c, axis->range, "the bandwidth of '%s' must be more than 0", axis->name.text);
    return false;
  }
  for (size_t i = 0; i < sizeof kUnits / sizeof kUnits[0]; ++i) {
    if (strcmp(kUnits[i].name, axis->unit.text) == 0) {
      *out_bytes_per_second = axis->bandwidth * kUnits[i].bytes;
      return true;
    }
  }
  tspec_check_error(c, axis->unit.range,
                    "'%s' is no unit of bandwidth; it is one of B, KB, MB, GB, TB, KiB, MiB, GiB, "
                    "TiB per s",
                    axis->unit.text);
  return false;
}

static bool check_axis_size(tspec_checker_t *c, const char *name, int64_t size,
                            tspec_range_t range) {
  if (size < 1 && size != INFERRED) {
    tspec_check_error(c, range,
                      "mesh axis '%s' has size %lld; it must be at least 1 (or -1: what --ranks "
                      "leaves)",
                      name, (long long)size);
    return false;
  }
  return true;
}

static bool check_mesh_size(tspec_checker_t *c, const tspec_ast_mesh_axis_t *axis,
                            int64_t *out_size) {
  *out_size = axis->size;
  if (axis->size_name.text != NULL) {
    tspec_cv_t cv;
    if (!tspec_check_lookup(c, axis->size_name.text, axis->size_name.range, &cv)) {
      tspec_check_undeclared(c, axis->size_name.text, axis->size_name.range);
      return false;
    }
    if (!tspec_cv_whole(c, cv, axis->size_name.range, "the size of a mesh axis", out_size)) {
      return false;
    }
  }
  return check_axis_size(c, axis->name.text, *out_size, axis->size_range);
}

static int find_axis(const mesh_axes_t *axes, const char *name) {
  for (size_t i = 0; i < axes->count; ++i) {
    if (strcmp(axes->items[i].name, name) == 0) {
      return (int)i;
    }
  }
  return -1;
}

static void read_mesh(tspec_checker_t *c, const tspec_ast_decl_t *decl, mesh_axes_t *out_axes) {
  for (size_t i = 0; i < decl->u.mesh.naxes; ++i) {
    const tspec_ast_mesh_axis_t *written = &decl->u.mesh.axes[i];
    tspec_mesh_axis_t axis = {.name = written->name.text, .size = 1};
    if (find_axis(out_axes, axis.name) >= 0) {
      tspec_check_error(c, written->name.range, "mesh axis '%s' stands twice", axis.name);
      continue;
    }
    check_mesh_size(c, written, &axis.size);
    if (written->has_bandwidth) {
      check_bandwidth(c, written, &axis.bytes_per_second);
    }
    TSPEC_VEC_PUSH(c->arena, out_axes, axis);
  }
}

// The program names the axes of its own mesh. Those that the mesh of a rules file lacks have
// size 1.
static void inherit_axes(tspec_checker_t *c, const tspec_ast_decl_t *mesh,
                         const tspec_ast_decl_t *replaced, mesh_axes_t *axes) {
  c->mesh_file = mesh->range.file;
  c->nmesh_own = (int)axes->count;
  for (size_t i = 0; i < replaced->u.mesh.naxes; ++i) {
    const tspec_ast_mesh_axis_t *written = &replaced->u.mesh.axes[i];
    tspec_mesh_axis_t axis = {.name = written->name.text, .size = 1};
    if (find_axis(axes, axis.name) >= 0) {
      continue;
    }
    if (written->has_bandwidth) {
      check_bandwidth(c, written, &axis.bytes_per_second);
    }
    TSPEC_VEC_PUSH(c->arena, axes, axis);
    if (c->options->lint) {
      tspec_check_warning(c, mesh->range,
                          "this mesh lacks the program's axis '%s', which has size 1 in it and "
                          "splits nothing",
                          axis.name);
      tspec_check_note(c, written->name.range, "the program's");
    }
  }
}

// ---- --mesh and --ranks ----------------------------------------------------------------------

static const char *known_axes(tspec_checker_t *c, const mesh_axes_t *axes) {
  const char *text = "";
  for (size_t i = 0; i < axes->count; ++i) {
    text = tspec_arena_printf(c->arena, "%s%s'%s'", text, i > 0 ? ", " : "", axes->items[i].name);
  }
  return text;
}

static bool apply_mesh_part(tspec_checker_t *c, const char *part, bool is_fixed,
                            mesh_axes_t *axes) {
  const char *equals = strchr(part, '=');
  char *end = NULL;
  long long size = equals == NULL ? 0 : strtoll(equals + 1, &end, 10);
  if (equals == NULL || equals == part || end == equals + 1 || *end != '\0') {
    tspec_check_error(c, (tspec_range_t){0}, "--mesh wants NAME=SIZE,..., not '%s'", part);
    return false;
  }
  const char *name = tspec_arena_strdup(c->arena, part, (size_t)(equals - part));
  int index = find_axis(axes, name);
  if (index < 0 && is_fixed) {
    tspec_check_error(c, (tspec_range_t){0},
                      "--mesh %s: the program's mesh has no axis '%s'; it has %s", part, name,
                      known_axes(c, axes));
    return false;
  }
  if (!check_axis_size(c, name, size, (tspec_range_t){0})) {
    return false;
  }
  if (index < 0) {
    TSPEC_VEC_PUSH(c->arena, axes, (tspec_mesh_axis_t){.name = name});
    index = (int)axes->count - 1;
  }
  TSPEC_CHECK(axes->items != NULL);
  axes->items[index].size = size;
  return true;
}

static void apply_mesh_option(tspec_checker_t *c, bool is_fixed, mesh_axes_t *axes) {
  char *text = tspec_arena_strdup(c->arena, c->options->mesh, strlen(c->options->mesh));
  c->mesh_overridden = true;
  for (char *part = text; part != NULL;) {
    char *comma = strchr(part, ',');
    if (comma != NULL) {
      *comma = '\0';
    }
    while (*part == ' ') {
      ++part;
    }
    if (!apply_mesh_part(c, part, is_fixed, axes)) {
      return;
    }
    part = comma == NULL ? NULL : comma + 1;
  }
}

static const char *mesh_text(tspec_checker_t *c, const mesh_axes_t *axes) {
  tspec_mesh_t mesh = {(int)axes->count, axes->items};
  return tspec_mesh_print(c->arena, &mesh);
}

// A size for one axis with which the mesh has `nranks` ranks: the edit to propose.
static const char *fitting_size(tspec_checker_t *c, const mesh_axes_t *axes, int64_t product,
                                int64_t nranks) {
  for (size_t i = 0; i < axes->count; ++i) {
    int64_t rest = product / axes->items[i].size;
    if (nranks % rest == 0) {
      return tspec_arena_printf(c->arena, "--mesh %s=%lld fits, or ", axes->items[i].name,
                                (long long)(nranks / rest));
    }
  }
  return "";
}

// After the report every axis has size 1, so that nothing overflows later.
static bool check_nranks(tspec_checker_t *c, tspec_range_t range, mesh_axes_t *axes) {
  tspec_mesh_t mesh = {(int)axes->count, axes->items};
  if (tspec_mesh_fits(&mesh)) {
    return true;
  }
  tspec_check_error(c, range, "the mesh %s has more than 2^31 - 1 ranks", mesh_text(c, axes));
  for (size_t i = 0; i < axes->count; ++i) {
    axes->items[i].size = 1;
  }
  return false;
}

// Fills in the one size that is -1, and compares with --ranks.
static void infer_size(tspec_checker_t *c, tspec_range_t range, mesh_axes_t *axes) {
  int64_t product = 1, nranks = c->options->nranks;
  tspec_mesh_axis_t *inferred = NULL;
  if (!check_nranks(c, range, axes)) {
    return;
  }
  for (size_t i = 0; i < axes->count; ++i) {
    if (axes->items[i].size != INFERRED) {
      product *= axes->items[i].size;
    } else if (inferred != NULL) {
      tspec_check_error(c, range, "only one mesh axis may have size -1, but '%s' and '%s' do",
                        inferred->name, axes->items[i].name);
      axes->items[i].size = 1;
    } else {
      inferred = &axes->items[i];
    }
  }
  if (inferred == NULL) {
    if (nranks > 0 && nranks != product) {
      tspec_check_error(
          c, range, "the mesh %s has %lld ranks, but --ranks says %lld; %s--ranks %lld",
          axes->count == 0 ? "(none)" : mesh_text(c, axes), (long long)product, (long long)nranks,
          fitting_size(c, axes, product, nranks), (long long)product);
    }
    return;
  }
  inferred->size = 1;
  if (nranks <= 0) {
    tspec_check_error(c, range, "mesh axis '%s' has size -1: --ranks N must say of how many",
                      inferred->name);
  } else if (nranks % product != 0) {
    tspec_check_error(c, range,
                      "mesh axis '%s' has size -1, but %lld ranks are no multiple of the %lld that "
                      "the other axes make",
                      inferred->name, (long long)nranks, (long long)product);
  } else {
    inferred->size = nranks / product;
    check_nranks(c, range, axes);
  }
}

// ---- precision -------------------------------------------------------------------------------

static void read_precision(tspec_checker_t *c, const tspec_ast_decl_t *decl) {
  for (size_t i = 0; i < decl->u.precision.count; ++i) {
    const tspec_ast_precision_t *item = &decl->u.precision.items[i];
    tspec_dtype_t *slot = NULL;
    if (strcmp(item->name.text, "params") == 0) {
      slot = &c->params_dtype;
    } else if (strcmp(item->name.text, "compute") == 0) {
      slot = &c->compute_dtype;
    } else if (strcmp(item->name.text, "reduce") == 0) {
      slot = &c->reduce_dtype;
    }
    if (slot == NULL) {
      tspec_check_error(c, item->name.range,
                        "'%s' is no precision; it is one of params, compute, reduce",
                        item->name.text);
    } else if (!tspec_dtype_is_float(item->dtype)) {
      tspec_check_error(c, item->range, "precision '%s' must be a float type, not %s",
                        item->name.text, tspec_dtype_name(item->dtype));
    } else {
      *slot = item->dtype;
    }
  }
}

// ---- both ------------------------------------------------------------------------------------

// The one declaration of a kind: a rules file's, which replaces the program's, or else that.
static const tspec_ast_decl_t *find_once(tspec_checker_t *c, const tspec_items_t *items,
                                         tspec_ast_decl_kind_t kind, const char *what,
                                         const tspec_ast_decl_t **out_replaced) {
  const tspec_ast_decl_t *program = NULL, *rules = NULL;
  for (size_t i = 0; i < items->count; ++i) {
    const tspec_item_t *item = &items->items[i];
    const tspec_ast_decl_t **found = item->origin == 2 ? &rules : &program;
    if (item->decl->kind != kind) {
      continue;
    }
    if (item->origin == 1) {
      tspec_check_error(c, item->decl->range, "'%s' stands in the main file, not in an import",
                        what);
    } else if (*found != NULL) {
      tspec_check_error(c, item->decl->range, "'%s' stands twice", what);
      tspec_check_note(c, (*found)->range, "first here");
    } else {
      *found = item->decl;
    }
  }
  if (rules != NULL && kind == TSPEC_AST_DECL_MESH) {
    c->mesh_overridden = true;
  }
  *out_replaced = rules != NULL ? program : NULL;
  return rules != NULL ? rules : program;
}

void tspec_check_mesh(tspec_checker_t *c, const tspec_items_t *items) {
  mesh_axes_t axes = {0};
  const tspec_ast_decl_t *replaced;
  const tspec_ast_decl_t *mesh = find_once(c, items, TSPEC_AST_DECL_MESH, "mesh", &replaced);
  if (mesh != NULL) {
    read_mesh(c, mesh, &axes);
  }
  if (replaced != NULL) {
    inherit_axes(c, mesh, replaced, &axes);
  }
  if (c->options->mesh != NULL) {
    apply_mesh_option(c, mesh != NULL, &axes);
  }
  infer_size(c, mesh == NULL ? (tspec_range_t){0} : mesh->range, &axes);
  c->program->mesh = (tspec_mesh_t){(int)axes.count, axes.items};
  const tspec_ast_decl_t *precision =
      find_once(c, items, TSPEC_AST_DECL_PRECISION, "precision", &replaced);
  if (precision != NULL) {
    read_precision(c, precision);
  }
}
