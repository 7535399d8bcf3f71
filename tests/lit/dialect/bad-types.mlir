// RUN: not tspecc %s --passes= 2>&1 | FileCheck %s
module attributes {tspec.level = "local", tspec.name = "bad"} {
  "tspec.mesh"() {axes = ["data"], sizes = array<i64: 2>} : () -> ()
  // CHECK: bad-types.mlir:[[@LINE+1]]:22: error: argument 0 of 'dynamic' has type tensor<?x16xf32>, wanted a tensor of fixed sizes
  func.func @dynamic(%x: tensor<?x16xf32> {tspec.kind = "input", tspec.name = "x"}) { return }
  // CHECK: bad-types.mlir:[[@LINE+1]]:21: error: argument 0 of 'scalar' has type f32, wanted a tensor
  func.func @scalar(%x: f32 {tspec.kind = "input", tspec.name = "x"}) { return }
  // CHECK: error: argument 0 of 'element' has type tensor<2xi4>, wanted a tensor
  func.func @element(%x: tensor<2xi4> {tspec.kind = "input", tspec.name = "x"}) { return }
  // CHECK: error: argument 0 of 'empty' has an empty dim 0
  func.func @empty(%x: tensor<0x16xf32> {tspec.kind = "input", tspec.name = "x"}) { return }
  func.func @block(%x: tensor<5x16xf32> {tspec.global = tensor<9x16xf32>, tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data, -]">}) {
    // CHECK: bad-types.mlir:[[@LINE+3]]:10: error: result 0 of 'tspec.relu' is written as f32[9, 16], but its block on rank 0 is f32[5, 16]
    // CHECK-NEXT: "tspec.relu"
    // CHECK: note: the whole is f32[9, 16] @ [data, -]
    %0 = "tspec.relu"(%x) {shardings = [#tspec.sharding<"[data, -]">]} : (tensor<5x16xf32>) -> tensor<9x16xf32>
    return
  }
}
