#include "tests/property/shrink.h"

#include <string.h>
#include <time.h>

#include "tests/property/gen.h"

typedef struct shrinker_t {
  prop_program_t *best;
  prop_program_t candidate;
  const prop_check_options_t *options;
  prop_outcome_t *outcome;
  time_t end;
} shrinker_t;

// Takes the candidate if it fails in the same way.
static bool accept(shrinker_t *s) {
  if (time(NULL) > s->end || !prop_program_infer(&s->candidate)) {
    return false;
  }
  prop_program_compact(&s->candidate);
  prop_outcome_t outcome;
  prop_check_apart(&s->candidate, s->options, &outcome);
  if (outcome.ok || strcmp(outcome.kind, s->outcome->kind) != 0) {
    return false;
  }
  *s->best = s->candidate;
  *s->outcome = outcome;
  return true;
}

static prop_program_t *start(shrinker_t *s) {
  s->candidate = *s->best;
  return &s->candidate;
}

// ---- entries, results, ops ---------------------------------------------------------------------

static void remove_entry(prop_program_t *program, int entry) {
  for (int i = entry; i + 1 < program->nentries; ++i) {
    program->entries[i] = program->entries[i + 1];
  }
  --program->nentries;
  for (int i = 0; i < program->nnodes; ++i) {
    prop_node_t *node = &program->nodes[i];
    node->entry = node->entry > entry ? node->entry - 1 : node->entry;
  }
  int count = 0;
  for (int i = 0; i < program->nrules; ++i) {
    prop_rule_t rule = program->rules[i];
    if (rule.entry != entry) {
      rule.entry = rule.entry > entry ? rule.entry - 1 : rule.entry;
      program->rules[count++] = rule;
    }
  }
  program->nrules = count;
}

static bool shrink_entries(shrinker_t *s) {
  bool any = false;
  for (int i = s->best->nentries - 1; i >= 0 && s->best->nentries > 1; --i) {
    prop_program_t *program = start(s);
    // its values go with it: nothing needs them any more
    program->entries[i].nresults = 0;
    prop_program_compact(program);
    remove_entry(program, i);
    any = accept(s) || any;
  }
  return any;
}

static bool shrink_results(shrinker_t *s) {
  bool any = false;
  for (int e = 0; e < s->best->nentries; ++e) {
    for (int i = s->best->entries[e].nresults - 1; i >= 0; --i) {
      prop_entry_t *entry = &start(s)->entries[e];
      if (entry->nresults > 1) {
        memmove(&entry->results[i], &entry->results[i + 1],
                sizeof entry->results[0] * (size_t)(entry->nresults - i - 1));
        --entry->nresults;
        any = accept(s) || any;
      }
    }
  }
  return any;
}

// The value becomes an input of the same type.
static bool make_leaf(prop_program_t *program, int index) {
  prop_node_t *node = &program->nodes[index];
  prop_node_t leaf = {.kind = PROP_INPUT,
                      .entry = node->entry,
                      .dtype = node->type.dtype,
                      .rank = node->type.rank,
                      .data = 1000 + index,
                      .sharding = node->sharding};
  leaf.sharding.npending = 0;
  leaf.sharding.by_rule = false;
  for (int i = 0; i < leaf.rank; ++i) {
    leaf.sizes[i] = prop_program_size(program, (int)node->type.dims[i]);
    if (leaf.sizes[i] < 0) {
      return false;
    }
  }
  *node = leaf;
  return true;
}

// Whoever reads `from` reads `to`, which must be of the same type.
static void replace_reads(prop_program_t *program, int from, int to) {
  for (int i = 0; i < program->nnodes; ++i) {
    for (int k = 0; k < program->nodes[i].noperands; ++k) {
      int *operand = &program->nodes[i].operands[k];
      *operand = *operand == from ? to : *operand;
    }
  }
  for (int e = 0; e < program->nentries; ++e) {
    for (int i = 0; i < program->entries[e].nresults; ++i) {
      int *node = &program->entries[e].results[i].node;
      *node = *node == from ? to : *node;
    }
  }
}

static bool bypass(shrinker_t *s, int index) {
  for (int k = 0; k < s->best->nodes[index].noperands; ++k) {
    int operand = s->best->nodes[index].operands[k];
    if (prop_type_equal(&s->best->nodes[operand].type, &s->best->nodes[index].type)) {
      replace_reads(start(s), index, operand);
      if (accept(s)) {
        return true;
      }
    }
  }
  return false;
}

// A result instead of what is made of it: an operand becomes the result.
static bool raise_operand(shrinker_t *s, int entry, int result) {
  const prop_node_t *node = &s->best->nodes[s->best->entries[entry].results[result].node];
  for (int k = 0; k < node->noperands; ++k) {
    prop_program_t *program = start(s);
    program->entries[entry].results[result] = (prop_result_t){.node = node->operands[k]};
    if (accept(s)) {
      return true;
    }
  }
  return false;
}

static bool shrink_ops(shrinker_t *s) {
  bool any = false;
  for (int i = s->best->nnodes - 1; i >= 0; --i) {
    if (i >= s->best->nnodes || s->best->nodes[i].kind != PROP_OP) {
      continue;
    }
    if ((make_leaf(start(s), i) && accept(s)) || bypass(s, i)) {
      any = true;
    }
  }
  for (int e = 0; e < s->best->nentries; ++e) {
    for (int i = 0; i < s->best->entries[e].nresults; ++i) {
      any = raise_operand(s, e, i) || any;
    }
  }
  return any;
}

// ---- annotations -------------------------------------------------------------------------------

static bool is_same(const prop_sharding_t *a, const prop_sharding_t *b) {
  return memcmp(a, b, sizeof *a) == 0;
}

// Tries simpler forms of one sharding, which lies in the candidate at `place`.
static bool shrink_sharding(shrinker_t *s, prop_sharding_t *place) {
  start(s);
  prop_sharding_t whole = *place, forms[4 + 3 * PROP_MAX_RANK];
  if (whole.written == PROP_WRITTEN_NOT) {
    return false;
  }
  int nforms = 4;
  forms[0] = (prop_sharding_t){0};
  forms[1] = forms[2] = forms[3] = whole;
  forms[1].npending = 0;
  forms[2].by_rule = false;
  forms[3].dots = false;
  for (int i = 0; i < whole.rank && whole.written == PROP_WRITTEN_DIMS; ++i) {
    forms[nforms] = forms[nforms + 1] = forms[nforms + 2] = whole;
    forms[nforms++].dims[i].npieces = 0;
    forms[nforms].dims[i].open = false;
    forms[nforms].dims[i].npieces = whole.dims[i].npieces > 1 ? 1 : whole.dims[i].npieces;
    ++nforms;
    forms[nforms++].dims[i].priority = 0;
  }
  for (int i = 0; i < nforms; ++i) {
    start(s);
    if (!is_same(place, &forms[i])) {
      *place = forms[i];
      if (accept(s)) {
        return true;
      }
    }
  }
  return false;
}

static bool shrink_annotations(shrinker_t *s) {
  bool any = false;
  for (int i = 0; i < s->best->nnodes; ++i) {
    any = shrink_sharding(s, &s->candidate.nodes[i].use) || any;
    any = shrink_sharding(s, &s->candidate.nodes[i].sharding) || any;
    if (s->best->nodes[i].typed != PROP_TYPED_NOT) {
      start(s)->nodes[i].typed = PROP_TYPED_NOT;
      any = accept(s) || any;
    }
    if (s->best->nodes[i].inlined) {
      start(s)->nodes[i].inlined = false;
      any = accept(s) || any;
    }
  }
  for (int e = 0; e < s->best->nentries; ++e) {
    for (int i = 0; i < s->best->entries[e].nresults; ++i) {
      any = shrink_sharding(s, &s->candidate.entries[e].results[i].sharding) || any;
    }
  }
  for (int i = s->best->nrules - 1; i >= 0; --i) {
    prop_program_t *program = start(s);
    program->rules[i] = program->rules[--program->nrules];
    any = accept(s) || any;
  }
  return any;
}

// ---- sizes -------------------------------------------------------------------------------------

static void forget_axis_of_dim(prop_dim_t *dim, int axis) {
  int count = 0;
  for (int i = 0; i < dim->npieces; ++i) {
    if (dim->pieces[i].axis != axis) {
      dim->pieces[count++] = dim->pieces[i];
    }
  }
  dim->npieces = count;
  for (int i = 0; i < count; ++i) {
    dim->pieces[i].axis -= dim->pieces[i].axis > axis;
  }
}

static void forget_axis_of_sharding(prop_sharding_t *sharding, int axis) {
  int count = 0;
  for (int i = 0; i < sharding->npending; ++i) {
    int pending = sharding->pending[i];
    if (pending != axis) {
      sharding->pending[count++] = pending - (pending > axis);
    }
  }
  sharding->npending = count;
  for (int i = 0; i < sharding->rank; ++i) {
    forget_axis_of_dim(&sharding->dims[i], axis);
  }
}

static void forget_axis(prop_program_t *program, int axis) {
  for (int i = 0; i < program->nnodes; ++i) {
    forget_axis_of_sharding(&program->nodes[i].sharding, axis);
  }
  for (int e = 0; e < program->nentries; ++e) {
    for (int i = 0; i < program->entries[e].nresults; ++i) {
      forget_axis_of_sharding(&program->entries[e].results[i].sharding, axis);
    }
  }
  for (int i = 0; i < program->nrules; ++i) {
    forget_axis_of_dim(&program->rules[i].dim, axis);
  }
  for (int i = axis; i + 1 < program->nmesh; ++i) {
    program->mesh[i] = program->mesh[i + 1];
    program->speeds[i] = program->speeds[i + 1];
  }
  --program->nmesh;
}

static bool shrink_speeds(shrinker_t *s) {
  bool any = false;
  for (int i = 0; i < s->best->nmesh; ++i) {
    if (s->best->speeds[i] > 0) {
      start(s)->speeds[i] = 0;
      any |= accept(s);
    }
  }
  return any;
}

static bool shrink_mesh(shrinker_t *s) {
  bool any = shrink_speeds(s);
  for (int i = s->best->nmesh - 1; i >= 0; --i) {
    forget_axis(start(s), i);
    if (accept(s)) {
      any = true;
      continue;
    }
    for (int size = 1; size < s->best->mesh[i]; ++size) {
      start(s)->mesh[i] = size;
      if (accept(s)) {
        any = true;
        break;
      }
    }
  }
  return any;
}

// All sizes of one value together, as ops need equal ones; then each alone.
static bool shrink_value(shrinker_t *s, int value, int only) {
  for (int smaller = 1; smaller < value; ++smaller) {
    prop_program_t *program = start(s);
    for (int i = 0; i < program->nsizes; ++i) {
      if (program->sizes[i].value == value && (only < 0 || only == i)) {
        program->sizes[i].value = smaller;
      }
    }
    if (accept(s)) {
      return true;
    }
  }
  return false;
}

static bool shrink_sizes(shrinker_t *s) {
  bool any = false;
  for (int value = 40; value > 1; --value) {
    for (int i = 0; i < s->best->nsizes; ++i) {
      if (s->best->sizes[i].value == value) {
        any = shrink_value(s, value, -1) || any;
        break;
      }
    }
  }
  for (int i = 0; i < s->best->nsizes; ++i) {
    any = shrink_value(s, s->best->sizes[i].value, i) || any;
    if (s->best->sizes[i].named) {
      start(s)->sizes[i].named = false;
      any = accept(s) || any;
    }
  }
  return any;
}

void prop_shrink(prop_program_t *program, const prop_check_options_t *options,
                 prop_outcome_t *outcome) {
  enum { SECONDS = 120 };
  static shrinker_t s;
  s = (shrinker_t){
      .best = program, .options = options, .outcome = outcome, .end = time(NULL) + SECONDS};
  bool any = true;
  while (any && time(NULL) <= s.end) {
    any = shrink_entries(&s);
    any = shrink_results(&s) || any;
    any = shrink_ops(&s) || any;
    any = shrink_annotations(&s) || any;
    any = shrink_mesh(&s) || any;
    any = shrink_sizes(&s) || any;
  }
}
