// The main of every compiled program; its object defines tspec_program.
#include "runtime/tspec_rt.h"

extern const tspec_compiled_t tspec_program;

int main(int argc, char **argv) {
  return tspec_rt_main(argc, argv, &tspec_program);
}
