// MLIR's own passes stand in a pipeline like ours; the program is read back after them.
// RUN: tspecc %s --passes='cse,func.func(canonicalize{max-iterations=1})' | FileCheck %s
// RUN: tspecc %s --passes='cse,canonicalize' --stop-after=cse -v 2>&1 > /dev/null | FileCheck %s --check-prefix=STOP
// RUN: tspecc %s --passes=cse --time-passes 2>&1 > /dev/null | FileCheck %s --check-prefix=TIME
// STOP: tspecc: cse
// STOP-NOT: tspecc: canonicalize
// TIME: seconds share pass
// TIME: {{[0-9.]+ +[0-9.]+%}} cse
// TIME: {{[0-9.]+}} 100.0% total

// CHECK: module attributes {tspec.level = "global", tspec.name = "sum"}
// CHECK: "tspec.neg"(%{{.*}}) {mine.keep = "me"}
module attributes {tspec.level = "global", tspec.name = "sum"} {
  func.func @f(%x: tensor<8xf32> {tspec.kind = "input", tspec.name = "x"}) -> (tensor<8xf32> {tspec.kind = "result", tspec.name = "y"}) {
    %0 = "tspec.neg"(%x) {mine.keep = "me"} : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
