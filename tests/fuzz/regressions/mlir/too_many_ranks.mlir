module attributes {tspec.level = "global", tspec.name = "h"} {
  "tspec.mesh"() {axes = ["a", "b"], sizes = array<i64: 9223372036854775807, 9223372036854775807>} : () -> ()
  func.func @f(%arg0: tensor<4xf32> {tspec.kind = "input", tspec.name = "x", tspec.sharding = #tspec.sharding<"[a*b]">}) -> (tensor<4xf32> {tspec.kind = "result", tspec.name = "y"}) {
    return %arg0 : tensor<4xf32>
  }
}
