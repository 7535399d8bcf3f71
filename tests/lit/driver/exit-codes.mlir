// 0: done. 1: diagnostics. 2: usage.
// RUN: tspecc %s --passes= -o %t.mlir
// RUN: sh -c 'tspecc nowhere.mlir 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=NOWHERE --input-file=%t.err
// RUN: sh -c 'tspecc %s --passes=partition 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=LEVEL --input-file=%t.err
// RUN: sh -c 'tspecc %s --passes= -o /nowhere/x.mlir 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=OUTPUT --input-file=%t.err
// RUN: sh -c 'tspecc %s --mesh=data=4 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=SOURCE --input-file=%t.err
// RUN: sh -c 'tspecc %s --entry=g 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=ENTRY --input-file=%t.err
// RUN: sh -c 'tspecc %s --passes=canonicalise 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=UPSTREAM --input-file=%t.err
// RUN: sh -c 'tspecc %s --passes="simplify,cse(x" 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=BRACKETS --input-file=%t.err
// RUN: sh -c 'tspecc %s --passes= --emit=mlir 2> %t.err; test $? -eq 1'
// RUN: FileCheck %s --check-prefix=EMIT --input-file=%t.err
// RUN: sh -c 'tspecc --no-such-option 2> %t.err; test $? -eq 2'

// NOWHERE: tspecc: error: 'nowhere.mlir' cannot be read: No such file or directory
// LEVEL: tspecc: error: pass 'partition' works at level sharded, but the program is at level global
// OUTPUT: tspecc: error: '/nowhere/x.mlir' cannot be written: No such file or directory
// SOURCE: tspecc: error: --mesh: '{{.*}}exit-codes.mlir' is no source program
// ENTRY: tspecc: error: --entry: there is no entry 'g'
// UPSTREAM: tspecc: error: --passes: 'canonicalise' is no pass of tspec or MLIR: 'canonicalise' does not refer to a registered pass
// BRACKETS: tspecc: error: --passes: brackets do not match in 'simplify,cse(x'
// EMIT: tspecc: error: the passes leave the program at level global, but --emit=mlir needs level local
module attributes {tspec.level = "global", tspec.name = "id"} {
  func.func @f(%x: tensor<8xf32> {tspec.kind = "input", tspec.name = "x"}) -> (tensor<8xf32> {tspec.kind = "result", tspec.name = "y"}) {
    return %x : tensor<8xf32>
  }
}
