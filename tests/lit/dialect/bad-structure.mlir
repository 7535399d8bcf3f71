// RUN: split-file %s %t
// RUN: not tspecc %t/blocks.mlir --passes= 2>&1 | FileCheck %t/blocks.mlir
// RUN: not tspecc %t/region.mlir --passes= 2>&1 | FileCheck %t/region.mlir
// RUN: not tspecc %t/unknown.mlir --passes= 2>&1 | FileCheck %t/unknown.mlir
// RUN: not tspecc %t/group.mlir --passes= 2>&1 | FileCheck %t/group.mlir
// RUN: not tspecc %t/level.mlir --passes= 2>&1 | FileCheck %t/level.mlir
// RUN: not tspecc %t/no-level.mlir --passes= 2>&1 | FileCheck %t/no-level.mlir
// RUN: not tspecc %t/no-module.mlir --passes= 2>&1 | FileCheck %t/no-module.mlir
// RUN: not tspecc %t/mesh.mlir --passes= 2>&1 | FileCheck %t/mesh.mlir
// RUN: not tspecc %t/syntax.mlir --passes= 2>&1 | FileCheck %t/syntax.mlir

//--- blocks.mlir
module attributes {tspec.level = "global"} {
  // CHECK: blocks.mlir:[[@LINE+1]]:3: error: 'f' has several blocks, wanted one without branches
  func.func @f(%x: tensor<8xf32> {tspec.kind = "input", tspec.name = "x"}) {
    cf.br ^bb1
  ^bb1:
    return
  }
  // CHECK: blocks.mlir:[[@LINE+1]]:3: error: 'g' has no body
  func.func private @g(%x: tensor<8xf32>)
  func.func @h(%x: tensor<8xf32> {tspec.kind = "input", tspec.name = "x"}) -> (tensor<8xf32> {tspec.kind = "result", tspec.name = "y"}) {
    // CHECK: blocks.mlir:[[@LINE+1]]:10: error: 'arith.negf' is no op of an entry
    %0 = arith.negf %x : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  // CHECK: blocks.mlir:[[@LINE+1]]:3: error: 'builtin.module' does not belong into a module of tspec
  module {}
}

//--- region.mlir
module attributes {tspec.level = "global"} {
  func.func @f(%x: tensor<8xf32> {tspec.kind = "input", tspec.name = "x"}) {
    // CHECK: region.mlir:[[@LINE+1]]:10: error: 'tspec.relu' op unexpected number of regions: expected 0 but got 1
    %0 = "tspec.relu"(%x) ({ ^bb0: }) : (tensor<8xf32>) -> tensor<8xf32>
    return
  }
}

//--- unknown.mlir
module attributes {tspec.level = "global"} {
  func.func @f(%x: tensor<8xf32> {tspec.kind = "input", tspec.name = "x"}) {
    // CHECK: unknown.mlir:[[@LINE+1]]:10: error: unregistered operation 'tspec.foo' found in dialect ('tspec')
    %0 = "tspec.foo"(%x) : (tensor<8xf32>) -> tensor<8xf32>
    return
  }
}

//--- group.mlir
module attributes {tspec.level = "global"} {
  func.func @f(%x: tensor<8xf32> {tspec.kind = "input", tspec.name = "x"}, %z: tensor<8x2xf32> {tspec.kind = "input", tspec.name = "z"}) {
    %0 = "tspec.same_sharding"(%x) {group = 3 : i64} : (tensor<8xf32>) -> tensor<8xf32>
    // CHECK: group.mlir:[[@LINE+1]]:10: error: op 'same_sharding' of 'f': group 3 has values of 1 dims and of 2
    %1 = "tspec.same_sharding"(%z) {group = 3 : i64} : (tensor<8x2xf32>) -> tensor<8x2xf32>
    return
  }
}

//--- level.mlir
// CHECK: level.mlir:[[@LINE+1]]:1: error: attribute 'tspec.level' of the module wants one of 'global', 'sharded', 'local', 'kernels', got 'globl'
module attributes {tspec.level = "globl"} {}

//--- no-level.mlir
// CHECK: no-level.mlir:[[@LINE+1]]:1: error: the module has no attribute 'tspec.level'
module {}

//--- no-module.mlir
// CHECK: no-module.mlir:[[@LINE+1]]:1: error: the file holds no module
func.func @f() { return }

//--- mesh.mlir
module attributes {tspec.level = "global"} {
  // CHECK: mesh.mlir:[[@LINE+1]]:3: error: mesh axis 'a' stands twice
  "tspec.mesh"() {axes = ["a", "a"], sizes = array<i64: 2, 2>} : () -> ()
}

//--- syntax.mlir
module attributes {tspec.level = "global"} {
  // CHECK: syntax.mlir:[[@LINE+1]]:29: error: expected attribute name
  "tspec.mesh"() {axes = [],
