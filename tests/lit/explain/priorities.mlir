// User priorities: what comes in an earlier round takes the axis.
// RUN: tspecc %s --explain | FileCheck %s

module attributes {tspec.level = "global", tspec.name = "priorities"} {
  "tspec.mesh"() {axes = ["data"], sizes = array<i64: 2>} : () -> ()
  func.func @main(%arg0: tensor<4x4xf32> {tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data!1, ?]">}, %arg1: tensor<4x4xf32> {tspec.kind = "input", tspec.name = "z", tspec.sharding = #tspec.sharding<"[?, data]">}) -> (tensor<4x4xf32> {tspec.kind = "result", tspec.name = "s"}) {
    %0 = "tspec.add"(%arg0, %arg1) {names = ["sum"]} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// CHECK: x [data, -]: dim 0 on data <- annotation
// CHECK: sum [-, data]: dim 1 on data <- z dim 1 <- annotation
// CHECK: sum [-, data]: dim 0 not on data of x dim 0 through 'add' ({{.*}}): data splits dim 1, of priority 0 before 1
