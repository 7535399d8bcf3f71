// Every kind of attribute, slot and module-level op survives being read and printed; stock MLIR tools accept the text.
// RUN: tspecc %s --passes= -o %t.1.mlir
// RUN: FileCheck %s --input-file=%t.1.mlir
// RUN: tspecc %t.1.mlir --passes= -o %t.2.mlir
// RUN: diff %t.1.mlir %t.2.mlir
// RUN: %mlir_opt %t.1.mlir --mlir-print-debuginfo | FileCheck %s

// CHECK: module attributes {tspec.level = "global", tspec.name = "all"}
module attributes {tspec.level = "global", tspec.name = "all"} {
  // CHECK: "tspec.mesh"() {axes = ["data", "model"], bytes_per_second = array<f64: 1.000000e+10, 0.000000e+00>, sizes = array<i64: 2, 4>}
  "tspec.mesh"() {axes = ["data", "model"], sizes = array<i64: 2, 4>, bytes_per_second = array<f64: 1.0e10, 0.0>} : () -> ()
  // CHECK: "tspec.param"() {init = "uniform", init_args = array<f64: -1.000000e+00, 1.000000e+00>, path = "b", type = tensor<f32>}
  "tspec.param"() {path = "b", type = tensor<f32>, init = "uniform", init_args = array<f64: -1.0, 1.0>} : () -> () loc("all.tspec":3:1 to :9)
  // CHECK: "tspec.param"() {{.*}}init_text = "normal(stddev = 0.1)", path = "count", sharding = #tspec.sharding<"[-, model?!1]">, state, type = tensor<16x4xi64>}
  "tspec.param"() {path = "count", state, type = tensor<16x4xi64>, sharding = #tspec.sharding<"[-, model?!1]">, init = "normal", init_args = array<f64: 0.0, 0.1>, init_text = "normal(stddev = 0.1)"} : () -> ()
  // CHECK: "tspec.expect"() {compare = "<=", entry = "f", over = ["data", "model"], text = "bytes over data*model <= 64", value = 6.400000e+01 : f64, warn_only, what = "bytes"}
  "tspec.expect"() {entry = "f", what = "bytes", compare = "<=", value = 64.0 : f64, over = ["data", "model"], text = "bytes over data*model <= 64", warn_only} : () -> ()
  // CHECK-LABEL: func.func @f(
  // CHECK-SAME: tensor<8x16xf32> {tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data, ?]">} loc("all.tspec":7:12 to :20)
  // CHECK-SAME: tensor<f32> {tspec.kind = "param", tspec.name = "b"}
  // CHECK-SAME: tensor<16x4xi64> {tspec.kind = "state", tspec.name = "count", tspec.value = "n"}
  // CHECK-SAME: {tspec.kind = "result", tspec.name = "y", tspec.place = #{{loc[0-9]*}}, tspec.sharding = #tspec.sharding<"[data, model]">}
  // CHECK-SAME: {tspec.kind = "state", tspec.name = "count"}
  func.func @f(%x: tensor<8x16xf32> {tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data, ?]">} loc("all.tspec":7:12 to :20),
               %b: tensor<f32> {tspec.kind = "param", tspec.name = "b"},
               %n: tensor<16x4xi64> {tspec.kind = "state", tspec.name = "count", tspec.value = "n"})
      -> (tensor<4x16xf32> {tspec.kind = "result", tspec.name = "y", tspec.sharding = #tspec.sharding<"[data, model]">, tspec.place = loc("all.tspec":7:40 to 8:2)},
          tensor<16x4xi64> {tspec.kind = "state", tspec.name = "count"}) {
    // CHECK: "tspec.constant"() {dtype = f32, shape = array<i64: 3>, values = array<f64: 1.000000e-01, -0.000000e+00, 0x7FF0000000000000>}
    %c = "tspec.constant"() {dtype = f32, shape = array<i64: 3>, values = array<f64: 0.1, -0.0, 0x7FF0000000000000>} : () -> tensor<3xf32>
    // CHECK: "tspec.broadcast"({{.*}}) {dims = array<i64>, names = ["layer/b"], places = [#{{loc[0-9]*}}], shape = array<i64: 8, 16>} : (tensor<f32>) -> tensor<8x16xf32>
    %0 = "tspec.broadcast"(%b) {shape = array<i64: 8, 16>, dims = array<i64>, names = ["layer/b"], places = [loc("all.tspec":9:2 to :4)]} : (tensor<f32>) -> tensor<8x16xf32> loc("all.tspec":9:3)
    // Attributes of others are kept.
    // CHECK: "tspec.add"({{.*}}) {mine.note = {a = 1 : i64, b = "text"}, other.flag, spelling = "+"} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = "tspec.add"(%x, %0) {spelling = "+", mine.note = {a = 1, b = "text"}, other.flag} : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32> loc("made for 'f'"("all.tspec":10:3 to 11:4))
    // CHECK: "tspec.pad"({{.*}}) {hi = array<i64: 0, 0>, lo = array<i64: 1, 0>, value = 5.000000e-01 : f64}
    %2 = "tspec.pad"(%1) {lo = array<i64: 1, 0>, hi = array<i64: 0, 0>, value = 0.5 : f64} : (tensor<8x16xf32>) -> tensor<9x16xf32>
    %3 = "tspec.slice"(%2) {starts = array<i64: 0, 0>, ends = array<i64: 8, 16>, steps = array<i64: 2, 1>} : (tensor<9x16xf32>) -> tensor<4x16xf32>
    %4 = "tspec.constraint"(%3) {sharding = #tspec.sharding<"[data, ...]">} : (tensor<4x16xf32>) -> tensor<4x16xf32>
    // CHECK: "tspec.constraint"({{.*}}) {sharding = #tspec.sharding<"[data, {{.*}}]">}
    return %4, %n : tensor<4x16xf32>, tensor<16x4xi64>
  }
  // Scalars, every element type, and operands of different types in one list.
  // CHECK-LABEL: func.func @g(
  func.func @g(%a: tensor<2xf64> {tspec.kind = "input", tspec.name = "a"}, %b: tensor<3xf64> {tspec.kind = "input", tspec.name = "b"},
               %u: tensor<ui8> {tspec.kind = "input", tspec.name = "u"}, %i: tensor<i1> {tspec.kind = "input", tspec.name = "i"},
               %h: tensor<2xbf16> {tspec.kind = "input", tspec.name = "h"})
      -> (tensor<5xf64> {tspec.kind = "result", tspec.name = "y"}, tensor<f16> {tspec.kind = "result", tspec.name = "z"}, tensor<4xbf16> {tspec.kind = "result", tspec.name = "w"}) {
    // CHECK: %[[A:.*]] = "tspec.to_any"(%{{.*}}) : (tensor<2xf64>) -> !tspec.any
    // CHECK: %[[B:.*]] = "tspec.to_any"(%{{.*}}) : (tensor<3xf64>) -> !tspec.any
    // CHECK: "tspec.concat"(%[[A]], %[[B]]) {dim = 0 : i64} : (!tspec.any, !tspec.any) -> tensor<5xf64>
    %0 = "tspec.to_any"(%a) : (tensor<2xf64>) -> !tspec.any
    %1 = "tspec.to_any"(%b) : (tensor<3xf64>) -> !tspec.any
    %2 = "tspec.concat"(%0, %1) {dim = 0} : (!tspec.any, !tspec.any) -> tensor<5xf64>
    // CHECK: "tspec.convert"({{.*}}) {dtype = f16} : (tensor<ui8>) -> tensor<f16>
    %3 = "tspec.convert"(%u) {dtype = f16} : (tensor<ui8>) -> tensor<f16>
    // CHECK: "tspec.concat"(%[[H:.*]], %[[H]]) {dim = 0 : i64} : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<4xbf16>
    %4 = "tspec.concat"(%h, %h) {dim = 0} : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<4xbf16>
    return %2, %3, %4 : tensor<5xf64>, tensor<f16>, tensor<4xbf16>
  }
}
// CHECK-DAG: #{{.*}} = loc("all.tspec":3:1 to :9)
// CHECK-DAG: #{{.*}} = loc("all.tspec":9:3)
// CHECK-DAG: #[[INNER:loc[0-9]*]] = loc("all.tspec":10:3 to 11:4)
// CHECK: #{{.*}} = loc("made for 'f'"(#[[INNER]]))
