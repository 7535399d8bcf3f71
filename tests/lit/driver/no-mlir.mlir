// What needs no MLIR does not load it: start-up is quick.
// RUN: env LD_DEBUG=files LD_DEBUG_OUTPUT=%t.log tspecc --help
// RUN: sh -c 'cat %t.log.* > %t.all; rm %t.log.*; ! grep -E "libMLIR|libLLVM|libtspec" %t.all'
