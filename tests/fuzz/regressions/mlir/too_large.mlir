module attributes {tspec.level = "global", tspec.name = "h"} {
  "tspec.mesh"() {axes = ["a"], sizes = array<i64: 2>} : () -> ()
  func.func @f(%arg0: tensor<3037000500x3037000500x8xf32> {tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[a, -, -]">}) -> (tensor<3037000500x3037000500x8xf32> {tspec.kind = "result", tspec.name = "y"}) {
    %0 = "tspec.neg"(%arg0) : (tensor<3037000500x3037000500x8xf32>) -> tensor<3037000500x3037000500x8xf32>
    return %0 : tensor<3037000500x3037000500x8xf32>
  }
}
