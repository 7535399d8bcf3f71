// The ways in which an op can be computed: one layout per tensor that fit together.
#ifndef TSPEC_PASSES_LAYOUTS_WAYS_H
#define TSPEC_PASSES_LAYOUTS_WAYS_H

#include "ir/shard/choose.h"
#include "passes/layouts_space.h"

/// Layouts are numbers in the spaces of the tensors.
typedef struct tspec_way_t {
  const int *layouts; ///< complete operands, then results as they are computed: pending over split
                      ///< reductions
  int64_t exchange;   ///< what the op itself sends (it places elements)
  int64_t nparts;     ///< among how many ranks the op's work is divided
} tspec_way_t;

typedef TSPEC_VEC(const tspec_way_t *) tspec_ways_t;

/// How an op is computed.
typedef enum tspec_way_kind_t {
  TSPEC_WAY_ALONE, ///< each rank its block, from its blocks
  // Of ops that place elements alone, which then may do so across ranks:
  TSPEC_WAY_VOTED, ///< laid out by vote over axes
  TSPEC_WAY_GIVEN, ///< between just the layouts that are given, of all tensors
} tspec_way_kind_t;

/// What a way was asked for.
typedef struct tspec_asked_way_t {
  const int *given; ///< per tensor a complete layout, or -1: it has no say
  tspec_way_kind_t kind;
  const tspec_way_t *way;
} tspec_asked_way_t;

/// Ops that differ in their operands alone: a model has few of them.
typedef struct tspec_op_class_t {
  const tspec_op_t *op; ///< one of them
  int noperands;
  int ntensors;
  tspec_space_t **spaces; ///< per tensor
  bool is_product;        ///< contracts dims of two operands: its work must stay divided
  TSPEC_VEC(tspec_asked_way_t) asked;
  struct tspec_op_class_t *next; ///< of the same hash
} tspec_op_class_t;

/// All classes of a function.
typedef struct tspec_op_classes_t {
  tspec_wire_t *wire;
  tspec_names_t spaces;
  size_t nbuckets;
  tspec_op_class_t **buckets;
} tspec_op_classes_t;

/// Room for the classes of about `nops` ops. Ownership: the wire's arena, of all that follows, too.
tspec_op_classes_t tspec_op_classes_create(tspec_wire_t *wire, int nops);
/// The class of an op that has a factor rule.
tspec_op_class_t *tspec_op_class_of(tspec_op_classes_t *classes, const tspec_op_t *op);

/// The way that the op's vote chooses if its tensors lie as `given` (tspec_asked_way_t). NULL if
/// no such exchange can be.
const tspec_way_t *tspec_op_class_way(tspec_op_classes_t *classes, tspec_op_class_t *class,
                                      const int *given, tspec_way_kind_t kind);

/// Ways that split more than `way` does: with each axis by which `lies` (per tensor, a layout)
/// splits something and the way nothing, on each dim of the first result in turn. Appends to
/// `ways`.
void tspec_op_class_use_idle(tspec_op_classes_t *classes, tspec_op_class_t *class,
                             const tspec_way_t *way, const int *lies, tspec_ways_t *ways);

#endif
