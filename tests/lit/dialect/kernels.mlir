// At level kernels the bodies of kernels follow the entries as functions of upstream dialects.
// RUN: tspecc %s --passes= -o %t.1.mlir
// RUN: FileCheck %s --input-file=%t.1.mlir
// RUN: tspecc %t.1.mlir --passes= -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: %mlir_opt %t.1.mlir --mlir-print-debuginfo | FileCheck %s

// CHECK: module attributes {tspec.level = "kernels", tspec.name = "product"}
module attributes {tspec.level = "kernels", tspec.name = "product"} {
  "tspec.mesh"() {axes = ["data"], sizes = array<i64: 2>} : () -> ()
  // CHECK-LABEL: func.func @f(
  // CHECK-SAME: {tspec.global = tensor<9x4xf32>, tspec.kind = "input", tspec.name = "x", tspec.offset = 0 : i64, tspec.sharding = #tspec.sharding<"[data, -]">}
  // CHECK-SAME: attributes {tspec.arena_bytes = 256 : i64}
  func.func @f(%x: tensor<5x4xf32> {tspec.global = tensor<9x4xf32>, tspec.kind = "input", tspec.name = "x", tspec.offset = 0, tspec.sharding = #tspec.sharding<"[data, -]">})
      -> (tensor<5x4xf32> {tspec.kind = "result", tspec.name = "y", tspec.sharding = #tspec.sharding<"[data, -]">},
          tensor<5x4xi1> {tspec.kind = "result", tspec.name = "z", tspec.sharding = #tspec.sharding<"[data, -]">}) attributes {tspec.arena_bytes = 256 : i64} {
    // CHECK: %[[K:.*]]:2 = "tspec.kernel"(%{{.*}}) {args = array<i64: 0, 0, 0, 0, 0>, axes = [], callee = "k0_exp", global = [tensor<9x4xf32>, tensor<9x4xi1>], names = ["h", unit], offsets = [128, 208], range = 0 : i64, shardings = [#tspec.sharding<"[data, -]">, #tspec.sharding<"[data, -]">]} : (tensor<5x4xf32>) -> (!tspec.any, !tspec.any)
    // CHECK: "tspec.from_any"(%[[K]]#0) : (!tspec.any) -> tensor<5x4xf32>
    // CHECK: "tspec.from_any"(%[[K]]#1) : (!tspec.any) -> tensor<5x4xi1>
    %k:2 = "tspec.kernel"(%x) {args = array<i64: 0, 0, 0, 0, 0>, axes = [], callee = "k0_exp", global = [tensor<9x4xf32>, tensor<9x4xi1>], names = ["h", unit], offsets = [128, 208], range = 0, shardings = [#tspec.sharding<"[data, -]">, #tspec.sharding<"[data, -]">]} : (tensor<5x4xf32>) -> (!tspec.any, !tspec.any)
    %0 = "tspec.from_any"(%k#0) : (!tspec.any) -> tensor<5x4xf32>
    %1 = "tspec.from_any"(%k#1) : (!tspec.any) -> tensor<5x4xi1>
    return %0, %1 : tensor<5x4xf32>, tensor<5x4xi1>
  }
  // CHECK: func.func private @tspec_exp_f32(f32) -> f32 attributes {tspec.kernel}
  func.func private @tspec_exp_f32(f32) -> f32 attributes {tspec.kernel}
  // CHECK: memref.global "private" constant @shared : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]> {tspec.kernel}
  memref.global "private" constant @shared : memref<2xf32> = dense<[1.0, 2.0]> {tspec.kernel}
  // CHECK: func.func @k0_exp({{.*}}) attributes {tspec.kernel = array<i64: 3, 1>} {
  func.func @k0_exp(%x: memref<20xf32> {llvm.noalias}, %y: memref<20xf32>, %z: memref<20xi8>, %extent: index, %begin: index, %end: index) attributes {tspec.kernel = array<i64: 3, 1>} {
    %c1 = arith.constant 1 : index
    %g = memref.get_global @shared : memref<2xf32>
    // CHECK: scf.for
    scf.for %i = %begin to %end step %c1 {
      %a = memref.load %x[%i] : memref<20xf32>
      // CHECK: func.call @tspec_exp_f32
      %b = func.call @tspec_exp_f32(%a) : (f32) -> f32
      memref.store %b, %y[%i] : memref<20xf32>
    }
    return
  }
}
