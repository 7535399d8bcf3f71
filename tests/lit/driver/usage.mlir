// Wrong command lines end with exit code 2 and one line that says what is wanted.
// RUN: not tspecc 2>&1 | FileCheck %s --check-prefix=NO-INPUT
// RUN: sh -c "tspecc; test $? -eq 2" 2> /dev/null
// RUN: not tspecc %s --vesion 2>&1 | FileCheck %s --check-prefix=SLIP
// RUN: not tspecc %s --emit=foo 2>&1 | FileCheck %s --check-prefix=EMIT
// RUN: not tspecc %s --ranks=0 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not tspecc %s --ranks=4x 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not tspecc %s --dump-ir=lokal 2>&1 | FileCheck %s --check-prefix=DUMP
// RUN: not tspecc %s --dump-ir=after:propagat 2>&1 | FileCheck %s --check-prefix=PASS
// RUN: not tspecc %s --stop-after=nothing 2>&1 | FileCheck %s --check-prefix=STOP
// RUN: not tspecc %s --lint=3 2>&1 | FileCheck %s --check-prefix=NO-VALUE
// RUN: not tspecc %s --mesh 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not tspecc %s other.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not tspecc %s --dump-dir=x 2>&1 | FileCheck %s --check-prefix=DIR
// RUN: not tspecc %s --visualize=x.svg 2>&1 | FileCheck %s --check-prefix=MISSING

// NO-INPUT: tspecc: error: no input file; --help says more
// SLIP: tspecc: error: there is no option '--vesion'; did you mean '--version'?
// EMIT: tspecc: error: --emit: got 'foo', wanted exe, obj, asm, llvm, mlir or tspec
// RANKS: tspecc: error: --ranks: got '{{.*}}', wanted a number of ranks, at least 1
// DUMP: tspecc: error: --dump-ir: got 'lokal', wanted source, global, sharded, local, kernels, before:PASS, after:PASS or all
// PASS: tspecc: error: --dump-ir: there is no pass 'propagat'; did you mean 'propagate'?
// STOP: tspecc: error: --stop-after: there is no pass 'nothing' (--list-passes shows them)
// NO-VALUE: tspecc: error: --lint takes no value, got '3'
// VALUE: tspecc: error: --mesh wants a value: M
// TWO: tspecc: error: one input file wanted, got '{{.*}}usage.mlir' and 'other.mlir'
// DIR: tspecc: error: --dump-dir without --dump-ir
// MISSING: tspecc: error: --visualize is not in this build
