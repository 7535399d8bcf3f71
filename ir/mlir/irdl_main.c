// Build step: writes the dialect's definition to the file that is named.
#include <stdio.h>

#include "ir/mlir/irdl.h"

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("usage: tspec_irdl FILE\n", stderr);
    return 2;
  }
  tspec_buf_t buf = {0};
  tspec_dialect_print_irdl(&buf);
  FILE *file = fopen(argv[1], "w");
  bool ok = file != NULL && fputs(tspec_buf_get(&buf), file) >= 0;
  if (file != NULL && fclose(file) != 0) {
    ok = false;
  }
  if (!ok) {
    perror(argv[1]);
  }
  tspec_buf_deinit(&buf);
  return ok ? 0 : 1;
}
