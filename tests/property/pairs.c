// pairs [--all] [even | uneven | small | mixed]
//
// All ordered pairs of ops that change shapes, on split dims of sizes that the mesh divides, that
// it does not, that are smaller than it, and one of each: all ranks against one, bit for bit, with
// the checks of check.h. Each pair runs in a quarter of the ways to split and to choose dims, with
// --all in each. The last line counts.
#include <stdio.h>
#include <string.h>

#include "tests/property/check.h"
#include "tests/property/gen.h"

/// An op on a value of any shape; `last` says which dim it works on: the first or the last.
typedef struct shaper_t {
  const char *name;
  const prop_gen_t *gen;
  int form;
  void (*fill)(prop_program_t *program, prop_node_t *node, const prop_type_t *type, int dim,
               const int *args);
  int args[3];
} shaper_t;

static void fill_slice(prop_program_t *program, prop_node_t *node, const prop_type_t *type, int dim,
                       const int *args) {
  (void)program;
  for (int i = 0; i < type->rank; ++i) {
    node->attrs[node->nattrs++] = i == dim ? args[0] : 0;
    node->attrs[node->nattrs++] = i == dim ? args[1] : 0;
    node->attrs[node->nattrs++] = i == dim ? args[2] : 1;
  }
}

static void fill_pad(prop_program_t *program, prop_node_t *node, const prop_type_t *type, int dim,
                     const int *args) {
  (void)program;
  for (int i = 0; i < type->rank; ++i) {
    node->attrs[node->nattrs++] = i == dim ? args[0] : 0;
    node->attrs[node->nattrs++] = i == dim ? args[1] : 0;
  }
  node->number = args[2];
}

// With itself (args[0] 0), or with an input of that size.
static void fill_concat(prop_program_t *program, prop_node_t *node, const prop_type_t *type,
                        int dim, const int *args) {
  node->attrs[node->nattrs++] = dim;
  node->operands[node->noperands] = node->operands[0];
  if (args[0] > 0) {
    prop_node_t leaf = {.kind = PROP_INPUT, .dtype = type->dtype, .rank = type->rank, .data = 77};
    for (int i = 0; i < type->rank; ++i) {
      leaf.sizes[i] = prop_program_size(program, i == dim ? args[0] : (int)type->dims[i]);
    }
    node->operands[node->noperands] = program->nnodes;
    program->nodes[program->nnodes++] = leaf;
  }
  ++node->noperands;
}

// A factor of 2 or 3, whichever divides; 1 if none does.
static void fill_reshape(prop_program_t *program, prop_node_t *node, const prop_type_t *type,
                         int dim, const int *args) {
  (void)program;
  int64_t n = type->rank > 0 ? type->dims[dim] : 1;
  if (args[0] > 0 && dim + 1 < type->rank) {
    n *= type->dims[dim + 1];
  }
  node->nattrs = 2;
  node->attrs[0] = dim;
  node->attrs[1] = n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 1;
}

static void fill_transpose(prop_program_t *program, prop_node_t *node, const prop_type_t *type,
                           int dim, const int *args) {
  (void)program;
  (void)dim;
  for (int i = 0; i < type->rank; ++i) {
    node->attrs[node->nattrs++] = args[0] > 0 ? (i + args[0]) % type->rank : type->rank - 1 - i;
  }
}

static void fill_broadcast(prop_program_t *program, prop_node_t *node, const prop_type_t *type,
                           int dim, const int *args) {
  (void)dim;
  node->attrs[node->nattrs++] = 1;
  node->attrs[node->nattrs++] = prop_program_size(program, args[0]);
  for (int i = 0; i < type->rank; ++i) {
    node->attrs[node->nattrs++] = type->dims[i] == 1 ? prop_program_size(program, args[1]) : -1;
  }
}

// args: whether dims are kept.
static void fill_reduce(prop_program_t *program, prop_node_t *node, const prop_type_t *type,
                        int dim, const int *args) {
  (void)program;
  (void)type;
  node->nattrs = 2;
  node->attrs[0] = 1 << dim;
  node->attrs[1] = args[0];
}

static void fill_along(prop_program_t *program, prop_node_t *node, const prop_type_t *type, int dim,
                       const int *args) {
  (void)program;
  (void)type;
  (void)args;
  node->attrs[node->nattrs++] = dim;
}

static const shaper_t kShapers[] = {
    {"slice inside", &prop_gen_slice, 0, fill_slice, {1, 1, 1}},
    {"slice begin", &prop_gen_slice, 1, fill_slice, {0, 1, 1}},
    {"slice end", &prop_gen_slice, 0, fill_slice, {1, 0, 1}},
    {"slice step 2", &prop_gen_slice, 0, fill_slice, {0, 0, 2}},
    {"slice step 3 from 1", &prop_gen_slice, 1, fill_slice, {1, 0, 3}},
    {"index", &prop_gen_slice, 0, fill_slice, {1, 0, 0}},
    {"pad before", &prop_gen_pad, 0, fill_pad, {1, 0, 0}},
    {"pad after", &prop_gen_pad, 0, fill_pad, {0, 2, 0}},
    {"pad both", &prop_gen_pad, 0, fill_pad, {2, 1, 3}},
    {"concat with itself", &prop_gen_concat, 0, fill_concat, {0}},
    {"concat with 3 more", &prop_gen_concat, 0, fill_concat, {3}},
    {"stack", &prop_gen_concat, 1, fill_concat, {0}},
    {"merge", &prop_gen_reshape, 0, fill_reshape, {0}},
    {"split", &prop_gen_reshape, 1, fill_reshape, {0}},
    {"regroup", &prop_gen_reshape, 2, fill_reshape, {1}},
    {"flatten", &prop_gen_reshape, 3, fill_reshape, {0}},
    {"expand", &prop_gen_reshape, 4, fill_reshape, {0}},
    {"squeeze", &prop_gen_reshape, 5, fill_reshape, {0}},
    {"reverse dims", &prop_gen_transpose, 0, fill_transpose, {0}},
    {"rotate dims", &prop_gen_transpose, 0, fill_transpose, {1}},
    {"broadcast", &prop_gen_broadcast, 0, fill_broadcast, {3, 5}},
    {"sum", &prop_gen_reduce, TSPEC_REDUCE_SUM, fill_reduce, {0}},
    {"sum kept", &prop_gen_reduce, TSPEC_REDUCE_SUM, fill_reduce, {1}},
    {"max", &prop_gen_reduce, TSPEC_REDUCE_MAX, fill_reduce, {0}},
    {"argmax", &prop_gen_arg_reduce, 0, fill_along, {0}},
};
enum { NSHAPERS = sizeof kShapers / sizeof kShapers[0] };

// ---- programs ----------------------------------------------------------------------------------

static const struct {
  const char *name;
  int mesh[2];
  int dims[2];
} kSettings[] = {
    {"even", {2, 2}, {8, 12}},
    {"uneven", {3, 2}, {7, 5}},
    {"small", {4, 3}, {2, 3}},
    {"mixed", {2, 3}, {9, 6}},
};
enum { NSETTINGS = sizeof kSettings / sizeof kSettings[0] };

enum { NSPLITS = 4 }; // of the input: [x, -], [-, x], [y, x], [x*y, -]

static void split_input(prop_sharding_t *sharding, int split) {
  *sharding = (prop_sharding_t){.written = PROP_WRITTEN_DIMS, .rank = 2};
  prop_dim_t x = {.npieces = 1, .pieces = {{.axis = 0}}};
  prop_dim_t y = {.npieces = 1, .pieces = {{.axis = 1}}};
  if (split == 3) {
    sharding->dims[0] = (prop_dim_t){.npieces = 2, .pieces = {{.axis = 0}, {.axis = 1}}};
  } else {
    sharding->dims[split == 1] = split == 2 ? y : x;
    if (split == 2) {
      sharding->dims[1] = x;
    }
  }
}

static bool add_shaper(prop_program_t *program, const shaper_t *shaper, bool last, int operand) {
  prop_node_t node = {.kind = PROP_OP, .gen = shaper->gen, .form = shaper->form, .noperands = 1};
  node.operands[0] = operand;
  const prop_type_t type = program->nodes[operand].type;
  int dim = last && type.rank > 0 ? type.rank - 1 : 0;
  shaper->fill(program, &node, &type, dim, shaper->args);
  if (type.rank == 0 || !prop_program_infer(program) || !prop_node_infer(program, &node)) {
    return false;
  }
  program->nodes[program->nnodes++] = node;
  return true;
}

static int setting_of(int number) {
  return number / NSPLITS % NSETTINGS;
}

/// A pair of ops in a setting. False: the second does not fit what the first makes.
static bool make_pair(int number, prop_program_t *program, char *name, size_t size) {
  int split = number % NSPLITS, setting = setting_of(number);
  int rest = number / NSPLITS / NSETTINGS;
  const shaper_t *a = &kShapers[rest / 4 % NSHAPERS], *b = &kShapers[rest / 4 / NSHAPERS];
  memset(program, 0, sizeof *program);
  program->seed = (uint64_t)number;
  program->ints = true;
  program->nmesh = 2;
  program->nentries = 1;
  memcpy(program->mesh, kSettings[setting].mesh, sizeof kSettings[setting].mesh);
  prop_node_t leaf = {.kind = PROP_INPUT, .dtype = TSPEC_DTYPE_F32, .rank = 2};
  for (int i = 0; i < 2; ++i) {
    leaf.sizes[i] = prop_program_size(program, kSettings[setting].dims[i]);
  }
  split_input(&leaf.sharding, split);
  program->nodes[program->nnodes++] = leaf;
  snprintf(name, size, "%s of %s", b->name, a->name);
  if (!prop_program_infer(program) || !add_shaper(program, a, rest % 2 == 1, 0) ||
      !add_shaper(program, b, rest / 2 % 2 == 1, program->nnodes - 1)) {
    return false;
  }
  prop_entry_t *entry = &program->entries[0];
  entry->nresults = 1;
  entry->results[0].node = program->nnodes - 1;
  // a third of the results lie elsewhere than they come about
  const prop_type_t *type = &program->nodes[program->nnodes - 1].type;
  if (number % 3 == 0 && type->rank > 0) {
    prop_sharding_t *sharding = &entry->results[0].sharding;
    *sharding = (prop_sharding_t){.written = PROP_WRITTEN_DIMS, .rank = type->rank};
    sharding->dims[type->rank - 1] = (prop_dim_t){.npieces = 1, .pieces = {{.axis = 1}}};
  }
  return prop_program_infer(program);
}

// A quarter of the cases of each pair, so that any two of split, sizes and dims meet.
static bool is_chosen(int number) {
  int split = number % NSPLITS, setting = setting_of(number);
  int rest = number / NSPLITS / NSETTINGS, dims = rest % 4, pair = rest / 4;
  return (split + setting + dims + pair) % 4 == 0;
}

/// False: no such option.
static bool parse_command(int argc, char **argv, bool *out_all, int *out_setting) {
  for (int i = 1; i < argc; ++i) {
    bool known = strcmp(argv[i], "--all") == 0;
    *out_all |= known;
    for (int k = 0; k < NSETTINGS; ++k) {
      if (strcmp(argv[i], kSettings[k].name) == 0) {
        *out_setting = k;
        known = true;
      }
    }
    if (!known) {
      return false;
    }
  }
  return true;
}

static bool check_pair(const prop_program_t *program, const char *name) {
  prop_outcome_t outcome;
  prop_check(program, &(prop_check_options_t){0}, &outcome);
  if (!outcome.ok) {
    tspec_buf_t text = {0};
    prop_program_print(program, &text);
    printf("FAILED %s: %s\n%s", name, outcome.detail, tspec_buf_get(&text));
    tspec_buf_deinit(&text);
  }
  return outcome.ok;
}

int main(int argc, char **argv) {
  bool all = false;
  int setting = -1, npassed = 0, nfailed = 0;
  if (!parse_command(argc, argv, &all, &setting)) {
    fprintf(stderr, "usage: pairs [--all] [even | uneven | small | mixed]\n");
    return 2;
  }
  for (int i = 0; i < NSPLITS * NSETTINGS * 4 * NSHAPERS * NSHAPERS; ++i) {
    static prop_program_t program;
    char name[100];
    bool wanted = (all || is_chosen(i)) && (setting < 0 || setting == setting_of(i));
    if (wanted && make_pair(i, &program, name, sizeof name)) {
      bool ok = check_pair(&program, name);
      npassed += ok;
      nfailed += !ok;
    }
  }
  printf("%d passed, %d failed\n", npassed, nfailed);
  return nfailed > 0;
}
