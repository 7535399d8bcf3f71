#include "ir/base/union.h"

int tspec_union_find(int *parents, int element) {
  while (parents[element] != element) {
    parents[element] = parents[parents[element]];
    element = parents[element];
  }
  return element;
}

void tspec_union_join(int *parents, int a, int b) {
  a = tspec_union_find(parents, a);
  b = tspec_union_find(parents, b);
  // The smaller number stays, so that the result does not depend on the order.
  parents[a < b ? b : a] = a < b ? a : b;
}
