// npy_close A.npy B.npy DIM..: two f32 arrays of that shape differ by at most 1e-5 of the largest
// element of B.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/files.h"

static int compare(const tspec_dense_t *a, const tspec_dense_t *b) {
  double largest = 0, worst = 0;
  for (int64_t i = 0; i < b->count; ++i) {
    largest = fmax(largest, fabs(tspec_dense_get(b, i)));
    double difference = fabs(tspec_dense_get(a, i) - tspec_dense_get(b, i));
    worst = isnan(difference) ? INFINITY : fmax(worst, difference);
  }
  printf("largest difference %g, largest element %g\n", worst, largest);
  return worst <= 1e-5 * largest ? 0 : 1;
}

int main(int argc, char **argv) {
  int64_t dims[8];
  int rank = argc - 3;
  if (rank < 1 || rank > 8) {
    fprintf(stderr, "usage: npy_close A.npy B.npy DIM..\n");
    return 2;
  }
  for (int i = 0; i < rank; ++i) {
    dims[i] = strtoll(argv[i + 3], NULL, 10);
  }
  tspec_type_t type = {TSPEC_DTYPE_F32, rank, dims};
  tspec_dense_t *a = tspec_files_read_npy(argv[1], type);
  tspec_dense_t *b = tspec_files_read_npy(argv[2], type);
  int result = a == NULL || b == NULL ? 1 : compare(a, b);
  tspec_dense_destroy(a);
  tspec_dense_destroy(b);
  return result;
}
