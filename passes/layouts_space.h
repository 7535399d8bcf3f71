// Layouts of tensors of one type as small numbers, and what conversions between them cost.
#ifndef TSPEC_PASSES_LAYOUTS_SPACE_H
#define TSPEC_PASSES_LAYOUTS_SPACE_H

#include <stdint.h>

#include "ir/base/str.h"
#include "ir/base/vec.h"
#include "passes/wire.h"

typedef TSPEC_VEC(int64_t) tspec_costs_t;

typedef struct tspec_layout_t {
  const tspec_sharding_t *sharding;
  int complete;        ///< the number of the same without pending axes
  tspec_costs_t costs; ///< by the number of the other layout; -1: not yet known
} tspec_layout_t;

/// All layouts of one type that were met, in the order of meeting.
typedef struct tspec_space_t {
  tspec_wire_t *wire;
  tspec_type_t type;
  TSPEC_VEC(tspec_layout_t) layouts;
} tspec_space_t;

/// The space of a type; `spaces` keeps them by type. Ownership: the wire's arena.
tspec_space_t *tspec_space_of(tspec_names_t *spaces, tspec_wire_t *wire, tspec_type_t type);
/// The number of a layout, which is copied if it is new.
int tspec_space_number(tspec_space_t *space, const tspec_sharding_t *sharding);
const tspec_sharding_t *tspec_space_sharding(const tspec_space_t *space, int layout);
/// The number of the layout without its pending axes.
int tspec_space_complete(const tspec_space_t *space, int layout);
/// True if the layout splits something by the axis or is pending over it.
bool tspec_space_uses(const tspec_space_t *space, int layout, tspec_axis_t axis);
/// The number of a complete layout that is split over more axes, minor-most on one dim; -1 if that
/// dim has not as many elements as parts then, or an axis is in use or cut otherwise.
int tspec_space_split(tspec_space_t *space, int layout, int dim, const tspec_axis_t *axes,
                      int naxes);
/// What the conversion costs (tspec_wire_conversion).
int64_t tspec_space_cost(tspec_space_t *space, int from, int to);

#endif
