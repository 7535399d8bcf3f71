// Disjoint sets of the numbers 0 .. n - 1, as an array of parents of which each is its own at
// first. Source: union-find with path halving (Tarjan and van Leeuwen).
#ifndef TSPEC_IR_BASE_UNION_H
#define TSPEC_IR_BASE_UNION_H

/// The smallest number of the element's set.
int tspec_union_find(int *parents, int element);
/// Makes one set of the two elements' sets.
void tspec_union_join(int *parents, int a, int b);

#endif
