// What does not fit is reported where it stands, everything in one run.
// RUN: not tspecc %s --passes= 2>&1 | FileCheck %s --implicit-check-not=error:
module attributes {tspec.level = "global", tspec.name = "bad"} {
  "tspec.mesh"() {axes = ["data", "model"], sizes = array<i64: 2, 4>} : () -> ()
  // CHECK: bad-attributes.mlir:[[@LINE+1]]:3: error: attribute 'init' of 'tspec.param' wants one of 'fill', 'normal', 'truncated_normal', 'uniform', got 'zero'
  "tspec.param"() {path = "w", type = tensor<4xf32>, init = "zero", init_args = array<f64: 0.0, 0.0>} : () -> ()
  // CHECK: bad-attributes.mlir:[[@LINE+1]]:3: error: attribute 'type' of 'tspec.param' wants a type, got 3 : i64
  "tspec.param"() {path = "w", type = 3, init = "fill", init_args = array<f64: 0.0, 0.0>} : () -> ()
  // CHECK: bad-attributes.mlir:[[@LINE+1]]:3: error: 'tspec.expect' has no attribute 'when'
  "tspec.expect"() {entry = "f", what = "bytes", compare = "<", value = 1.0 : f64, when = 3} : () -> ()
  func.func @f(%x: tensor<8x16xf32> {tspec.kind = "input", tspec.name = "x"}) -> (tensor<8x16xf32> {tspec.kind = "result", tspec.name = "y"}) {
    // CHECK: bad-attributes.mlir:[[@LINE+1]]:10: error: attribute 'perm' of 'tspec.transpose' wants integers, array<i64: ...>, got 3 : i64
    %0 = "tspec.transpose"(%x) {perm = 3} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // CHECK: error: 'tspec.transpose' has no attribute 'prm'; did you mean 'perm'?
    // CHECK: note: attributes of others have a prefix, as in 'mine.prm'
    %1 = "tspec.transpose"(%x) {prm = 1, perm = array<i64: 1, 0>} : (tensor<8x16xf32>) -> tensor<16x8xf32>
    // CHECK: error: unknown mesh axis 'dat' in dim 0 of result 0 of 'tspec.relu'; did you mean 'data'?
    %2 = "tspec.relu"(%x) {shardings = [#tspec.sharding<"[dat, -]">]} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // CHECK: error: attribute 'shardings' of result 0 of 'tspec.relu' wants #tspec.sharding<"...">, got "[data, -]"
    %3 = "tspec.relu"(%x) {shardings = ["[data, -]"]} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // CHECK: error: attribute 'names' of 'tspec.relu' wants a list of one element per result, got ["a", "b"]
    %4 = "tspec.relu"(%x) {names = ["a", "b"]} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // CHECK: error: attribute 'kind' of 'tspec.reduce' wants sum, max, min, prod, all or any, got "mean"
    %5 = "tspec.reduce"(%x) {kind = "mean", dims = array<i64: 0>} : (tensor<8x16xf32>) -> tensor<16xf32>
    // CHECK: error: attribute 'dtype' of 'tspec.convert' wants an element type, got i7
    %6 = "tspec.convert"(%x) {dtype = i7} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    // What reads a value that was refused is not reported again.
    %7 = "tspec.relu"(%6) : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %7 : tensor<8x16xf32>
  }
  // CHECK: error: argument 0 of 'g' has no attribute 'tspec.kind'
  func.func @g(%x: tensor<8x16xf32>) { return }
  // CHECK: error: attribute 'tspec.kind' of argument 0 of 'h' wants one of 'input', 'param', 'state', 'result', got 'inptu'
  func.func @h(%x: tensor<8x16xf32> {tspec.kind = "inptu", tspec.name = "x"}) { return }
  // CHECK: error: argument 0 of 'k' has no attribute 'tspec.shard'
  func.func @k(%x: tensor<8x16xf32> {tspec.kind = "input", tspec.name = "x", tspec.shard}) { return }
}
