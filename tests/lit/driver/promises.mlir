// A broken promise names the collectives that broke it, each with its bytes, cause and line; kept ones are silent. Reports count
// the same.
// RUN: not tspecc %s --passes= --report 2> %t.err | FileCheck %s --check-prefix=NOTHING --allow-empty
// RUN: FileCheck %s --input-file=%t.err --implicit-check-not=broken
// RUN: sed -e '/BROKEN/d' %s > %t.kept.mlir
// RUN: tspecc %t.kept.mlir --passes= --report | FileCheck %s --check-prefix=REPORT
// RUN: tspecc %t.kept.mlir --passes= --report=json | FileCheck %s --check-prefix=JSON
// RUN: tspecc %t.kept.mlir --passes= --report=json | %python -m json.tool > /dev/null
// RUN: not tspecc %s --passes= --report --strict 2>&1 | FileCheck %s --check-prefix=STRICT
// NOTHING-NOT: {{.}}

// 9 rows over 2 ranks are blocks of 5 and 4 rows. all_reduce: 2 * 3/4 of 5 * 4 * 4 bytes. all_gather: 9 * 4 * 4 bytes minus the
// smallest block of 4 * 4 * 4.
// REPORT: product on data=2, model=4
// REPORT-NEXT: f
// REPORT-NEXT: all_reduce over model 120 bytes promises.mlir:40 for 'dot'
// REPORT-NEXT: all_gather over data 80 bytes product.tspec:9{{$}}
// REPORT-NEXT: 200 bytes per rank and call: 1 all_reduce, 1 all_gather
// JSON: {"program": "product", "mesh": {"data": 2, "model": 4}, "entries": [
// JSON-NEXT: {"name": "f", "collectives": [
// JSON-NEXT: {"kind": "all_reduce", "axes": ["model"], "bytes": 120, "type": "f32[9, 4]", "from": "[data, -] sum(model)", "to": "[data, -]", "line": "{{.*}}", "because": "for 'dot'"},
// JSON-NEXT: {"kind": "all_gather", "axes": ["data"], "bytes": 80, {{.*}} "because": null}], "bytes": 200}]}
module attributes {tspec.level = "local", tspec.name = "product"} {
  "tspec.mesh"() {axes = ["data", "model"], sizes = array<i64: 2, 4>} : () -> ()
  // CHECK: {{.*}}promises.mlir:[[@LINE+6]]:3: error: broken promise of 'f': 'all_reduce == 0', got 1
  // CHECK: promises.mlir:40:10: note: all_reduce over model, 120 bytes, for 'dot' (promises.mlir:40)
  // CHECK: {{.*}}promises.mlir:[[@LINE+5]]:3: warning: broken promise of 'f': 'bytes < 200', got 200
  // CHECK: note: all_reduce over model
  // CHECK: product.tspec:9:11: note: all_gather over data, 80 bytes (product.tspec:9)
  // STRICT: error: broken promise of 'f': 'bytes < 200', got 200
  "tspec.expect"() {entry = "f", what = "all_reduce", compare = "==", value = 0.0 : f64, text = "all_reduce == 0"} : () -> () // BROKEN
  "tspec.expect"() {entry = "f", what = "bytes", compare = "<", value = 200.0 : f64, warn_only} : () -> () // BROKEN
  "tspec.expect"() {entry = "f", what = "all_gather", compare = "<=", value = 1.0 : f64} : () -> ()
  "tspec.expect"() {entry = "f", what = "collectives", over = ["data"], compare = "==", value = 1.0 : f64} : () -> ()
  "tspec.expect"() {entry = "f", what = "collectives", over = ["data", "model"], compare = "==", value = 0.0 : f64} : () -> ()
  "tspec.expect"() {entry = "f", what = "bytes", over = ["model"], compare = ">=", value = 120.0 : f64} : () -> ()
  "tspec.expect"() {entry = "not_compiled", what = "bytes", compare = ">", value = 1.0 : f64} : () -> ()
  func.func @f(%x: tensor<5x4xf32> {tspec.global = tensor<9x16xf32>, tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[data, model]">},
               %w: tensor<4x4xf32> {tspec.global = tensor<16x4xf32>, tspec.kind = "input", tspec.name = "w", tspec.sharding = #tspec.sharding<"[model, -]">})
      -> (tensor<9x4xf32> {tspec.kind = "result", tspec.name = "y", tspec.sharding = #tspec.sharding<"[-, -]">}) {
    %0 = "tspec.dot"(%x, %w) {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, dtype = f32, shardings = [#tspec.sharding<"[data, -] sum(model)">]} : (tensor<5x4xf32>, tensor<4x4xf32>) -> tensor<5x4xf32>
    %1 = "tspec.all_reduce"(%0) {kind = "sum", axes = ["model"], shardings = [#tspec.sharding<"[data, -]">]} : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("for 'dot'"("promises.mlir":40:10))
    %2 = "tspec.all_gather"(%1) {axes = ["data"], shardings = [#tspec.sharding<"[-, -]">]} : (tensor<5x4xf32>) -> tensor<9x4xf32> loc("product.tspec":9:11)
    return %2 : tensor<9x4xf32>
  }
}
