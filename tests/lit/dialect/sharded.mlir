// At level sharded every value has a sharding, pending sums included.
// RUN: tspecc %s --passes= -o %t.1.mlir
// RUN: FileCheck %s --input-file=%t.1.mlir
// RUN: tspecc %t.1.mlir --passes= -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: %mlir_opt %t.1.mlir --mlir-print-debuginfo | FileCheck %s

// CHECK: module attributes {tspec.level = "sharded", tspec.name = "product"}
module attributes {tspec.level = "sharded", tspec.name = "product"} {
  "tspec.mesh"() {axes = ["data", "model"], sizes = array<i64: 2, 4>} : () -> ()
  func.func @f(%x: tensor<8x16xf32> {tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data, model]">},
               %w: tensor<16x4xf32> {tspec.kind = "input", tspec.name = "w", tspec.sharding = #tspec.sharding<"[model, -]">})
      -> (tensor<8x4xf32> {tspec.kind = "result", tspec.name = "y", tspec.sharding = #tspec.sharding<"[data*model:(2)2, -]">}) {
    // CHECK: %[[DOT:.*]] = "tspec.dot"({{.*}}) {{{.*}}shardings = [#tspec.sharding<"[data, -] sum(model)">]{{.*}}} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %0 = "tspec.dot"(%x, %w) {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, dtype = f32, shardings = [#tspec.sharding<"[data, -] sum(model)">]} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // CHECK: "tspec.reshard"(%[[DOT]]) {sharding = #tspec.sharding<"[data*model:(2)2, -]">, shardings = [#tspec.sharding<"[data*model:(2)2, -]">]} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %1 = "tspec.reshard"(%0) {sharding = #tspec.sharding<"[data*model:(2)2, -]">, shardings = [#tspec.sharding<"[data*model:(2)2, -]">]} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    return %1 : tensor<8x4xf32>
  }
}
