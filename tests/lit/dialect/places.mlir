// An error stands where the program has its place; a note shows the line of the module.
// RUN: cp %s %t.mlir
// RUN: not tspecc %t.mlir --passes= 2>&1 | FileCheck %s
module attributes {tspec.level = "global", tspec.name = "places"} {
  func.func @f(%x: tensor<8x16xf32> {tspec.kind = "input", tspec.name = "x"}) -> (tensor<8x16xf32> {tspec.kind = "result", tspec.name = "y"}) {
    %0 = "tspec.relu"(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32> loc("net.tspec":3:4 to :9)
    // in a comment it is no op: "tspec.relu"(%x)
    // CHECK: net.tspec:5:6: error: 'tspec.relu' has no attribute 'slope'
    // CHECK: {{.*}}.mlir:[[@LINE+1]]:10: note: written here
    %1 = "tspec.relu"(%0) {slope = 1} : (tensor<8x16xf32>) -> tensor<8x16xf32> loc("net.tspec":5:6 to :9)
    return %1 : tensor<8x16xf32>
  }
}
