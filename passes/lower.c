// MLIR's part of code generation: the text of all kernels, upstream's lowering, the translation to
// LLVM IR, elementary functions linked in from runtime/math. Only the dialects and passes that
// kernels need are loaded: all of MLIR takes longer to set up than a small program takes to
// compile.
#include "passes/lower.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Linker.h>
#include <mlir-c/Conversion.h>
#include <mlir-c/Diagnostics.h>
#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/ControlFlow.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/LLVM.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/MemRef.h>
#include <mlir-c/Dialect/SCF.h>
#include <mlir-c/Dialect/Vector.h>
#include <mlir-c/IR.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <mlir-c/Target/LLVMIR.h>
#include <string.h>

#include "ir/base/str.h"
#include "passes/kernel.h"
#include "runtime/math/bitcode.h"

static const char pipeline[] =
    "builtin.module(convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm{use-bare-ptr-memref-call-conv=1},"
    "convert-arith-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts)";

static MlirContext create_context(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  MlirDialectHandle handles[] = {
      mlirGetDialectHandle__func__(),   mlirGetDialectHandle__scf__(),
      mlirGetDialectHandle__arith__(),  mlirGetDialectHandle__math__(),
      mlirGetDialectHandle__memref__(), mlirGetDialectHandle__vector__(),
      mlirGetDialectHandle__cf__(),     mlirGetDialectHandle__llvm__(),
  };
  for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
    mlirDialectHandleInsertDialect(handles[i], registry);
  }
  MlirContext context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirContextLoadAllAvailableDialects(context);
  mlirRegisterAllLLVMTranslations(context);
  return context;
}

/// Registering again changes nothing.
static void register_passes(void) {
  mlirRegisterConversionSCFToControlFlowPass();
  mlirRegisterConversionConvertVectorToLLVMPass();
  mlirRegisterConversionConvertMathToLLVMPass();
  mlirRegisterConversionFinalizeMemRefToLLVMConversionPass();
  mlirRegisterConversionConvertFuncToLLVMPass();
  mlirRegisterConversionArithToLLVMConversionPass();
  mlirRegisterConversionConvertControlFlowToLLVMPass();
  mlirRegisterConversionReconcileUnrealizedCastsPass();
}

static void append(MlirStringRef text, void *buf) {
  tspec_buf_append(buf, text.data, text.length);
}

static MlirLogicalResult keep_message(MlirDiagnostic diagnostic, void *buf) {
  if (((tspec_buf_t *)buf)->length == 0) {
    mlirDiagnosticPrint(diagnostic, append, buf);
  }
  return mlirLogicalResultSuccess();
}

static bool run_pipeline(MlirModule module, tspec_buf_t *message) {
  register_passes();
  MlirPassManager passes = mlirPassManagerCreate(mlirModuleGetContext(module));
  mlirPassManagerEnableVerifier(passes, false);
  MlirLogicalResult result =
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(passes),
                            mlirStringRefCreate(pipeline, sizeof pipeline - 1), append, message);
  if (mlirLogicalResultIsSuccess(result)) {
    result = mlirPassManagerRunOnOp(passes, mlirModuleGetOperation(module));
  }
  mlirPassManagerDestroy(passes);
  return mlirLogicalResultIsSuccess(result);
}

static LLVMModuleRef translate(const char *text, LLVMContextRef llvm, tspec_buf_t *message) {
  MlirContext context = create_context();
  mlirContextAttachDiagnosticHandler(context, keep_message, message, NULL);
  MlirModule module = mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  LLVMModuleRef result = NULL;
  if (!mlirModuleIsNull(module)) {
    if (run_pipeline(module, message)) {
      result = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(module), llvm);
    }
    mlirModuleDestroy(module);
  }
  mlirContextDestroy(context);
  return result;
}

// ---- elementary functions ----------------------------------------------------------------------

/// They must fit whatever CPU the kernels are compiled for.
static void drop_target(LLVMValueRef function) {
  static const char *const names[] = {"target-cpu", "target-features", "tune-cpu"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                     names[i], (unsigned)strlen(names[i]));
  }
}

static void add_attribute(LLVMContextRef context, LLVMValueRef function, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(context, kind, 0));
}

static bool calls_math(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
    size_t length;
    if (LLVMIsDeclaration(f) && strncmp(LLVMGetValueName2(f, &length), "tspec_", 6) == 0) {
      return true;
    }
  }
  return false;
}

static bool link_math(LLVMModuleRef module, LLVMContextRef context) {
  if (!calls_math(module)) {
    return true;
  }
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRange(
      (const char *)tspec_math_bitcode, tspec_math_bitcode_size, "math", 0);
  LLVMModuleRef math;
  if (LLVMParseBitcodeInContext2(context, buffer, &math)) {
    LLVMDisposeMemoryBuffer(buffer);
    return false;
  }
  LLVMDisposeMemoryBuffer(buffer);
  LLVMSetTarget(math, LLVMGetTarget(module));
  LLVMSetDataLayout(math, LLVMGetDataLayoutStr(module));
  return !LLVMLinkModules2(module, math);
}

/// Everything but declarations is seen in this module alone.
static void make_internal(LLVMModuleRef module, LLVMContextRef context) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
    size_t length;
    if (LLVMIsDeclaration(f)) {
      continue;
    }
    LLVMSetLinkage(f, LLVMInternalLinkage);
    add_attribute(context, f, "nounwind");
    if (strncmp(LLVMGetValueName2(f, &length), "tspec_", 6) == 0) {
      drop_target(f);
    } else {
      // Inlined into its wrapper it would lose what it knows about its pointers.
      add_attribute(context, f, "noinline");
    }
  }
}

LLVMModuleRef tspec_lower_kernels(const tspec_program_t *program, LLVMContextRef context,
                                  tspec_diag_t *diag) {
  if (program->nkernels == 0) {
    return LLVMModuleCreateWithNameInContext(program->name, context);
  }
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_buf_t message = {0};
  LLVMModuleRef module = translate(tspec_kernels_print(program, &arena), context, &message);
  tspec_arena_deinit(&arena);
  if (module == NULL) {
    tspec_diag_error(diag, (tspec_range_t){0}, "the kernels do not lower to LLVM: %s",
                     tspec_buf_get(&message));
  } else if (!link_math(module, context)) {
    tspec_diag_error(diag, (tspec_range_t){0}, "the elementary functions do not link");
    LLVMDisposeModule(module);
    module = NULL;
  } else {
    make_internal(module, context);
  }
  tspec_buf_deinit(&message);
  return module;
}
