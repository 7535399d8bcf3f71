// Random programs of the property test: a small structure of their own, so that a failing one can
// be made smaller and still be well-typed. Printed as .tspec text; the compiler never sees the
// structure.
#ifndef TSPEC_TESTS_PROPERTY_PROGRAM_H
#define TSPEC_TESTS_PROPERTY_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/str.h"
#include "ir/base/type.h"
#include "ir/op_rules.h"

enum {
  PROP_MAX_MESH = 3,
  PROP_MAX_RANK = 5,
  PROP_MAX_NODES = 140,
  PROP_MAX_OPERANDS = 4,
  PROP_MAX_ATTRS = 24,
  PROP_MAX_PIECES = 4,
  PROP_MAX_SIZES = 48,
  PROP_MAX_ENTRIES = 3,
  PROP_MAX_RESULTS = 12,
  PROP_MAX_RULES = 8,
};

// ---- random numbers

typedef struct prop_random_t {
  uint64_t state;
} prop_random_t;

uint64_t prop_random_bits(prop_random_t *random);
/// 0 .. n - 1.
int prop_random_below(prop_random_t *random, int n);
/// True in `percent` of 100 cases.
bool prop_random_chance(prop_random_t *random, int percent);

// ---- shardings as they are written

typedef struct prop_piece_t {
  int axis; ///< of the mesh
  int pre;
  int size; ///< 0: the whole axis
} prop_piece_t;

typedef struct prop_dim_t {
  int npieces;
  prop_piece_t pieces[PROP_MAX_PIECES];
  bool open;
  int priority; ///< written if the dim is open or has pieces
} prop_dim_t;

typedef enum prop_written_t {
  PROP_WRITTEN_NOT,   ///< nothing is written
  PROP_WRITTEN_EMPTY, ///< "[]"
  PROP_WRITTEN_DIMS,  ///< an entry per dim
} prop_written_t;

typedef struct prop_sharding_t {
  prop_written_t written;
  int rank;
  prop_dim_t dims[PROP_MAX_RANK];
  int npending;
  int pending[PROP_MAX_MESH]; ///< mesh axes
  tspec_reduce_t kind;
  bool dots;    ///< some open dims without axes are written "..."
  bool by_rule; ///< of a parameter or a let: said by a line of `shard params` or `shard values`
} prop_sharding_t;

// ---- values

typedef struct prop_type_t {
  tspec_dtype_t dtype;
  int rank;
  int64_t dims[PROP_MAX_RANK];
} prop_type_t;

typedef enum prop_kind_t {
  PROP_INPUT,
  PROP_PARAM,
  PROP_OP, ///< made by a row of the generator table
} prop_kind_t;

typedef enum prop_typed_t {
  PROP_TYPED_NOT,     ///< let v = ..
  PROP_TYPED_NUMBERS, ///< let v: f32[8, 4] = ..
  PROP_TYPED_NAMES,   ///< let v: f32[n0, 4] = ..
} prop_typed_t;

struct prop_gen_t;

/// A value: an input, a parameter, or what an op makes of earlier values. Deleted ones stay until
/// prop_program_compact.
typedef struct prop_node_t {
  prop_kind_t kind;
  const struct prop_gen_t *gen; ///< PROP_OP
  int form;                     ///< the row's variant
  int entry;                    ///< where it is computed; -1: a parameter
  int noperands;
  int operands[PROP_MAX_OPERANDS];
  int nattrs;
  int attrs[PROP_MAX_ATTRS]; ///< meaning by row and form
  double number;             ///< a literal of the op
  tspec_dtype_t dtype;       ///< of inputs and parameters, and where a row names one
  int rank;                  ///< of inputs and parameters
  int sizes[PROP_MAX_RANK];  ///< of inputs and parameters: places in the program's list
  int data; ///< of inputs and parameters: what their elements follow from, besides the seed
  prop_typed_t typed;
  bool inlined; ///< of an op: written where it is read, again for each reader, without a name
  prop_sharding_t sharding;
  prop_sharding_t use; ///< of a parameter: how it lies where it is read
  // what follows is worked out by prop_program_infer
  prop_type_t type;
  bool splat;    ///< all elements are one number, known when the program is compiled
  double lo, hi; ///< the elements lie between
  double err;    ///< how much an element may differ for another order of sums
} prop_node_t;

typedef struct prop_size_t {
  int value;
  bool named; ///< "axis n3 = 8"
} prop_size_t;

typedef struct prop_result_t {
  int node;
  bool names; ///< its type by axis names
  prop_sharding_t sharding;
} prop_result_t;

typedef struct prop_entry_t {
  int nresults;
  prop_result_t results[PROP_MAX_RESULTS];
} prop_entry_t;

/// A line of `shard axes`.
typedef struct prop_rule_t {
  int size; ///< a named size
  prop_dim_t dim;
  int entry; ///< in that entry only; -1: everywhere
} prop_rule_t;

typedef struct prop_program_t {
  uint64_t seed;
  bool ints;    ///< all numbers are whole and all sums exact: results must be equal bit for bit
  bool rounds;  ///< also run by an interpreter whose functions round in their own way
  bool divides; ///< by one that leaves open what an integer divided by 0 is
  int nmesh;
  int mesh[PROP_MAX_MESH];   ///< sizes
  int speeds[PROP_MAX_MESH]; ///< in GB/s; 0: not stated
  int nsizes;
  prop_size_t sizes[PROP_MAX_SIZES];
  int nnodes;
  prop_node_t nodes[PROP_MAX_NODES];
  int nentries;
  prop_entry_t entries[PROP_MAX_ENTRIES];
  int nrules;
  prop_rule_t rules[PROP_MAX_RULES];
} prop_program_t;

extern const char *const prop_mesh_names[PROP_MAX_MESH];

int prop_program_nranks(const prop_program_t *program);
/// Works out types and bounds of all values. False if some op does not fit its operands any more.
bool prop_program_infer(prop_program_t *program);
/// Works out those of one node whose operands are known.
bool prop_node_infer(const prop_program_t *program, prop_node_t *node);
/// Removes values that no result needs, and renumbers.
void prop_program_compact(prop_program_t *program);
/// How many ops there are.
int prop_program_nops(const prop_program_t *program);
/// A place in the list of sizes with that value, unnamed; added if there is none. -1: the list is
/// full.
int prop_program_size(prop_program_t *program, int value);

int64_t prop_type_count(const prop_type_t *type);
bool prop_type_equal(const prop_type_t *a, const prop_type_t *b);

/// The program as .tspec text.
void prop_program_print(const prop_program_t *program, tspec_buf_t *out);
/// "v3", or "(v1 + v2)" if it is inlined: an operand as it is written.
void prop_print_operand(const prop_program_t *program, const prop_node_t *node, int index,
                        tspec_buf_t *out);
void prop_print_sharding(const prop_sharding_t *sharding, tspec_buf_t *out);

#endif
