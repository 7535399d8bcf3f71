#include <string.h>

#include "tests/property/gen.h"

static void print_type(const prop_program_t *program, const prop_type_t *type, const int *sizes,
                       bool names, tspec_buf_t *out) {
  tspec_buf_puts(out, tspec_dtype_name(type->dtype));
  for (int i = 0; i < type->rank; ++i) {
    int name = sizes != NULL && program->sizes[sizes[i]].named ? sizes[i] : -1;
    for (int k = 0; names && sizes == NULL && name < 0 && k < program->nsizes; ++k) {
      if (program->sizes[k].named && program->sizes[k].value == type->dims[i]) {
        name = k;
      }
    }
    tspec_buf_puts(out, i == 0 ? "[" : ", ");
    if (name >= 0) {
      tspec_buf_printf(out, "n%d", name);
    } else {
      tspec_buf_printf(out, "%lld", (long long)type->dims[i]);
    }
  }
  tspec_buf_puts(out, type->rank > 0 ? "]" : "");
}

static void print_dim(const prop_dim_t *dim, tspec_buf_t *out) {
  for (int i = 0; i < dim->npieces; ++i) {
    const prop_piece_t *piece = &dim->pieces[i];
    tspec_buf_printf(out, "%s%s", i == 0 ? "" : "*", prop_mesh_names[piece->axis]);
    if (piece->size > 0) {
      tspec_buf_printf(out, ":(%d)%d", piece->pre, piece->size);
    }
  }
  tspec_buf_puts(out, dim->open ? "?" : dim->npieces == 0 ? "-" : "");
  if (dim->priority > 0 && (dim->open || dim->npieces > 0)) {
    tspec_buf_printf(out, "!%d", dim->priority);
  }
}

static bool is_untouched(const prop_dim_t *dim) {
  return dim->open && dim->npieces == 0 && dim->priority == 0;
}

// The dims that one "..." stands for: the longest run of open ones without axes; none at the end
// where there is no such run.
static void find_dots(const prop_sharding_t *sharding, int *out_begin, int *out_end) {
  *out_begin = *out_end = sharding->rank;
  for (int i = 0, begin = 0; i < sharding->rank; ++i) {
    begin = is_untouched(&sharding->dims[i]) ? begin : i + 1;
    if (i + 1 - begin > *out_end - *out_begin) {
      *out_begin = begin;
      *out_end = i + 1;
    }
  }
}

static void print_dims(const prop_sharding_t *sharding, tspec_buf_t *out) {
  int begin = -1, end = -1;
  if (sharding->dots) {
    find_dots(sharding, &begin, &end);
  }
  const char *comma = "";
  for (int i = 0; i <= sharding->rank; ++i) {
    if (i == begin) {
      tspec_buf_printf(out, "%s...", comma);
      comma = ", ";
    }
    if (i < sharding->rank && (i < begin || i >= end)) {
      tspec_buf_puts(out, comma);
      print_dim(&sharding->dims[i], out);
      comma = ", ";
    }
  }
}

void prop_print_sharding(const prop_sharding_t *sharding, tspec_buf_t *out) {
  tspec_buf_puts(out, "[");
  if (sharding->written == PROP_WRITTEN_DIMS) {
    print_dims(sharding, out);
  }
  tspec_buf_puts(out, "]");
  for (int i = 0; i < sharding->npending; ++i) {
    tspec_buf_printf(out, "%s%s", i == 0 ? " " : ", ",
                     i == 0 ? tspec_reduce_name(sharding->kind) : "");
    tspec_buf_printf(out, "%s%s", i == 0 ? "(" : "", prop_mesh_names[sharding->pending[i]]);
  }
  tspec_buf_puts(out, sharding->npending > 0 ? ")" : "");
}

static void print_at(const prop_sharding_t *sharding, tspec_buf_t *out) {
  if (sharding->written != PROP_WRITTEN_NOT && !sharding->by_rule) {
    tspec_buf_puts(out, " @ ");
    prop_print_sharding(sharding, out);
  }
}

static void print_use(const prop_sharding_t *use, tspec_buf_t *out) {
  if (use->written != PROP_WRITTEN_NOT) {
    tspec_buf_puts(out, " use ");
    prop_print_sharding(use, out);
  }
}

static char node_letter(const prop_node_t *node) {
  return node->kind == PROP_INPUT ? 'a' : node->kind == PROP_PARAM ? 'w' : 'v';
}

static void print_value(const prop_program_t *program, int index, tspec_buf_t *out) {
  const prop_node_t *node = &program->nodes[index];
  if (node->inlined) {
    tspec_buf_puts(out, "(");
    node->gen->print(program, node, out);
    tspec_buf_puts(out, ")");
  } else {
    tspec_buf_printf(out, "%c%d", node_letter(node), index);
  }
}

void prop_print_operand(const prop_program_t *program, const prop_node_t *node, int index,
                        tspec_buf_t *out) {
  print_value(program, node->operands[index], out);
}

// ---- declarations ------------------------------------------------------------------------------

static void print_mesh(const prop_program_t *program, tspec_buf_t *out) {
  for (int i = 0; i < program->nmesh; ++i) {
    tspec_buf_printf(out, "%s%s = %d", i == 0 ? "mesh " : ", ", prop_mesh_names[i],
                     program->mesh[i]);
    if (program->speeds[i] > 0) {
      tspec_buf_printf(out, " @ %d GB/s", program->speeds[i]);
    }
  }
  tspec_buf_puts(out, program->nmesh > 0 ? "\n" : "");
}

static void print_sizes(const prop_program_t *program, tspec_buf_t *out) {
  for (int i = 0; i < program->nsizes; ++i) {
    if (program->sizes[i].named) {
      tspec_buf_printf(out, "axis n%d = %d\n", i, program->sizes[i].value);
    }
  }
}

static void print_axis_rules(const prop_program_t *program, tspec_buf_t *out) {
  for (int entry = 0; entry <= program->nentries; ++entry) {
    int where = entry < program->nentries ? entry : -1;
    int count = 0;
    for (int i = 0; i < program->nrules; ++i) {
      if (program->rules[i].entry != where) {
        continue;
      }
      if (count++ == 0 && where < 0) {
        tspec_buf_puts(out, "shard axes {\n");
      } else if (count == 1) {
        tspec_buf_printf(out, "shard axes in e%d {\n", where);
      }
      tspec_buf_printf(out, "  n%d -> ", program->rules[i].size);
      print_dim(&program->rules[i].dim, out);
      tspec_buf_puts(out, "\n");
    }
    tspec_buf_puts(out, count > 0 ? "}\n" : "");
  }
}

static void print_path_rules(const prop_program_t *program, prop_kind_t kind, const char *head,
                             tspec_buf_t *out) {
  int count = 0;
  for (int i = 0; i < program->nnodes; ++i) {
    const prop_node_t *node = &program->nodes[i];
    if (node->kind == kind && node->sharding.written != PROP_WRITTEN_NOT &&
        node->sharding.by_rule) {
      tspec_buf_puts(out, count++ == 0 ? head : "");
      tspec_buf_printf(out, "  \"^%c%d$\" -> ", node_letter(node), i);
      prop_print_sharding(&node->sharding, out);
      print_use(&node->use, out);
      tspec_buf_puts(out, "\n");
    }
  }
  tspec_buf_puts(out, count > 0 ? "}\n" : "");
}

static void print_params(const prop_program_t *program, tspec_buf_t *out) {
  for (int i = 0; i < program->nnodes; ++i) {
    const prop_node_t *node = &program->nodes[i];
    if (node->kind == PROP_PARAM) {
      tspec_buf_printf(out, "param w%d: ", i);
      print_type(program, &node->type, node->sizes, true, out);
      print_at(&node->sharding, out);
      if (node->sharding.written != PROP_WRITTEN_NOT && !node->sharding.by_rule) {
        print_use(&node->use, out);
      }
      tspec_buf_puts(out, " = 1\n");
    }
  }
}

// ---- entries -----------------------------------------------------------------------------------

static void print_head(const prop_program_t *program, int entry, tspec_buf_t *out) {
  tspec_buf_printf(out, "entry fn e%d(", entry);
  int count = 0;
  for (int i = 0; i < program->nnodes; ++i) {
    const prop_node_t *node = &program->nodes[i];
    if (node->kind == PROP_INPUT && node->entry == entry) {
      tspec_buf_printf(out, "%sa%d: ", count++ == 0 ? "" : ", ", i);
      print_type(program, &node->type, node->sizes, true, out);
      print_at(&node->sharding, out);
    }
  }
  tspec_buf_puts(out, ")\n    -> (");
  const prop_entry_t *e = &program->entries[entry];
  for (int i = 0; i < e->nresults; ++i) {
    const prop_result_t *result = &e->results[i];
    tspec_buf_printf(out, "%sr%d: ", i == 0 ? "" : ", ", i);
    print_type(program, &program->nodes[result->node].type, NULL, result->names, out);
    print_at(&result->sharding, out);
  }
  tspec_buf_puts(out, ") {\n");
}

static void print_let(const prop_program_t *program, int index, tspec_buf_t *out) {
  const prop_node_t *node = &program->nodes[index];
  tspec_buf_printf(out, "  let v%d", index);
  if (node->typed != PROP_TYPED_NOT) {
    tspec_buf_puts(out, ": ");
    print_type(program, &node->type, NULL, node->typed == PROP_TYPED_NAMES, out);
  }
  print_at(&node->sharding, out);
  tspec_buf_puts(out, " = ");
  node->gen->print(program, node, out);
  tspec_buf_puts(out, "\n");
}

static void print_entry(const prop_program_t *program, int entry, tspec_buf_t *out) {
  print_head(program, entry, out);
  for (int i = 0; i < program->nnodes; ++i) {
    const prop_node_t *node = &program->nodes[i];
    if (node->kind == PROP_OP && node->entry == entry && !node->inlined) {
      print_let(program, i, out);
    }
  }
  const prop_entry_t *e = &program->entries[entry];
  for (int i = 0; i < e->nresults; ++i) {
    tspec_buf_puts(out, i == 0 ? "  return " : ", ");
    print_value(program, e->results[i].node, out);
  }
  tspec_buf_puts(out, "\n}\n");
}

static void print_functions(const prop_program_t *program, tspec_buf_t *out) {
  for (int i = 0; i < program->nnodes; ++i) {
    const prop_node_t *node = &program->nodes[i];
    if (node->kind == PROP_OP && node->gen == &prop_gen_same_sharding) {
      tspec_buf_puts(out, "fn alike(p, q) {\n  let (u, _) = same_sharding(p, q)\n  return u\n}\n");
      return;
    }
  }
}

void prop_program_print(const prop_program_t *program, tspec_buf_t *out) {
  print_mesh(program, out);
  print_sizes(program, out);
  print_params(program, out);
  print_axis_rules(program, out);
  print_path_rules(program, PROP_PARAM, "shard params {\n", out);
  print_path_rules(program, PROP_OP, "shard values {\n", out);
  print_functions(program, out);
  for (int i = 0; i < program->nentries; ++i) {
    print_entry(program, i, out);
  }
}
