// RUN: tspecc --list-passes | FileCheck %s --check-prefix=PASSES --strict-whitespace
// RUN: tspecc --list-ops | FileCheck %s --check-prefix=OPS
// RUN: tspecc --version | FileCheck %s --check-prefix=VERSION
// RUN: tspecc --help | FileCheck %s --check-prefix=HELP
// RUN: tspecc %s --list-rules | FileCheck %s --check-prefix=RULES

// PASSES: {{^}}propagate            global  -> sharded  gives every value
// OPS: {{^}}add              2 -> 1  a + b
// OPS: {{^}}concat           n -> 1  {{.*}} {dim}
// VERSION: tspecc {{[0-9]+\.[0-9]+}}
// HELP: usage: tspecc FILE.tspec|FILE.mlir [OPTION]...
// HELP: {{^}}  -o OUT                  write the result there
// HELP: {{^}}  --dump-ir[=LEVEL]       print source
// HELP: {{^}}  --list-passes[=md]      print all passes
// RULES: {{^}}f{{$}}
// RULES: {{^}}  dot              ([i, k],[k, j])->([i, j]) {i=8, j=4, k=16} reduction={k}  ({{.*}}lists.mlir:[[@LINE+4]])
// RULES: {{^}}  constant         no rule
module attributes {tspec.level = "global", tspec.name = "rules"} {
  func.func @f(%x: tensor<8x16xf32> {tspec.kind = "input", tspec.name = "x"}, %w: tensor<16x4xf32> {tspec.kind = "input", tspec.name = "w"}) -> (tensor<8x4xf32> {tspec.kind = "result", tspec.name = "y"}) {
    %0 = "tspec.dot"(%x, %w) {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>, dtype = f32} : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    %1 = "tspec.constant"() {dtype = f32, shape = array<i64>, values = array<f64: 1.0>} : () -> tensor<f32>
    return %0 : tensor<8x4xf32>
  }
}
