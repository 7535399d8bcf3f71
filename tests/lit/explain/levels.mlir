// From MLIR of level global: no lines of rules, but the same causes. Later levels are not propagated.
// RUN: tspecc %S/sets.tspec --dump-ir=global > %t.global.mlir
// RUN: tspecc %t.global.mlir --explain=r | FileCheck %s
// RUN: tspecc %S/sets.tspec --dump-ir=local > %t.local.mlir
// RUN: not tspecc %t.local.mlir --explain 2>&1 | FileCheck %s --check-prefix=LOCAL

// CHECK: result r [data*model]: dim 0 on data <- z dim 0 <- annotation
// CHECK: result r [data*model]: dim 0 on model <- z dim 1 <- annotation, together with z dim 0 on data <- annotation
// LOCAL: is not propagated by this command
