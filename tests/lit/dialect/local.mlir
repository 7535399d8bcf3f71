// At level local types are the blocks of rank 0, the largest ones; `global` holds the whole types where they differ.
// RUN: tspecc %s --passes= -o %t.1.mlir
// RUN: FileCheck %s --input-file=%t.1.mlir
// RUN: tspecc %t.1.mlir --passes= -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: %mlir_opt %t.1.mlir --mlir-print-debuginfo | FileCheck %s

// CHECK: module attributes {tspec.level = "local", tspec.name = "product"}
module attributes {tspec.level = "local", tspec.name = "product"} {
  "tspec.mesh"() {axes = ["data", "model"], sizes = array<i64: 2, 4>} : () -> ()
  // 9 rows over 2 ranks: blocks of 5 and 4
  // CHECK-LABEL: func.func @f(
  // CHECK-SAME: tensor<5x4xf32> {tspec.global = tensor<9x16xf32>, tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data, model]">}
  // CHECK-SAME: -> (tensor<5x4xf32> {tspec.kind = "result", tspec.name = "y"
  func.func @f(%x: tensor<5x4xf32> {tspec.global = tensor<9x16xf32>, tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data, model]">},
               %w: tensor<4x4xf32> {tspec.global = tensor<16x4xf32>, tspec.kind = "input", tspec.name = "w", tspec.sharding = #tspec.sharding<"[model, -]">})
      -> (tensor<5x4xf32> {tspec.kind = "result", tspec.name = "y", tspec.sharding = #tspec.sharding<"[data, -]">}) {
    // CHECK: %[[DOT:.*]] = "tspec.dot"({{.*}}) {{{.*}}global = [tensor<9x4xf32>]{{.*}}shardings = [#tspec.sharding<"[data, -] sum(model)">]{{.*}}} : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %0 = "tspec.dot"(%x, %w) {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, dtype = f32, global = [tensor<9x4xf32>], shardings = [#tspec.sharding<"[data, -] sum(model)">]} : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32> loc("product.tspec":9:11 to :16)
    // CHECK: "tspec.all_reduce"(%[[DOT]]) {axes = ["model"], global = [tensor<9x4xf32>], kind = "sum", shardings = [#tspec.sharding<"[data, -]">]} : (tensor<5x4xf32>) -> tensor<5x4xf32>
    %1 = "tspec.all_reduce"(%0) {kind = "sum", axes = ["model"], global = [tensor<9x4xf32>], shardings = [#tspec.sharding<"[data, -]">]} : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("for 'dot'"("product.tspec":9:11 to :16))
    return %1 : tensor<5x4xf32>
  }
}
// CHECK: = loc("for 'dot'"(#{{.*}}))
