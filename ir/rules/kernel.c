// Ops of the kernels level. They stand for what `fuse` formed and have no factor rules: shardings
// are settled by then.
#include "ir/rules/rules.h"

static const tspec_attr_spec_t kernel_attrs[] = {
    {"callee", TSPEC_ATTR_STRING, true, "the kernel's name"},
    {"args", TSPEC_ATTR_INTS, true,
     "integers for each number that the kernel gets (passes/kernel.h)"},
    {"range", TSPEC_ATTR_INT, true, "which number is the extent of the outer loop, -1: none"},
    {"axes", TSPEC_ATTR_AXES, true, "pieces of mesh axes that args points into"},
    {0},
};
static const tspec_attr_spec_t view_attrs[] = {
    {"shape", TSPEC_ATTR_INTS, true, "of the result"},
    {0},
};
static const tspec_attr_spec_t gemm_attrs[] = {
    {"lhs_batch", TSPEC_ATTR_INTS, true,
     "dims of lhs that are batch dims, paired with rhs_batch; first in the result"},
    {"rhs_batch", TSPEC_ATTR_INTS, true, "the same of rhs"},
    {"lhs_contract", TSPEC_ATTR_INTS, true,
     "dims of lhs that are summed over, paired with rhs_contract; the others follow in the result"},
    {"rhs_contract", TSPEC_ATTR_INTS, true,
     "the same of rhs, whose other dims come last in the result"},
    {"dtype", TSPEC_ATTR_DTYPE, true, "of the sum and of the result"},
    {0},
};

// Its result types are those of the values that its body computes.
const tspec_op_rules_t tspec_rules_kernel = {
    .summary = "a fused loop nest",
    .attrs = kernel_attrs,
    .linear = TSPEC_LINEAR_NONE,
};

const tspec_op_rules_t tspec_rules_gemm = {
    .summary = "a matrix product by the GEMM library",
    .attrs = gemm_attrs,
    .linear = TSPEC_LINEAR_ONE,
    .infer = tspec_rules_infer_dot,
};

const tspec_op_rules_t tspec_rules_view = {
    .summary = "a reshape that costs nothing",
    .attrs = view_attrs,
    .linear = TSPEC_LINEAR_EACH,
    .infer = tspec_rules_infer_reshape,
    .linear_over = tspec_rules_moves_elements,
};
