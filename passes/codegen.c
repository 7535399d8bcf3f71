// LLVM's part of code generation: a wrapper per kernel, the image as data, O3 for a CPU, the file.
#include "passes/codegen.h"

#include <errno.h>
#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "passes/image.h"
#include "passes/kernel.h"
#include "passes/lower.h"
#include "passes/target.h"

typedef struct codegen_t {
  const tspec_program_t *program;
  const tspec_codegen_t *options;
  tspec_diag_t *diag;
  tspec_arena_t arena;
  tspec_cpu_t cpu;
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
} codegen_t;

bool tspec_codegen_check_cpu(const char *cpu, tspec_range_t range, tspec_diag_t *diag) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_cpu_t found;
  bool ok = tspec_cpu_find(cpu, &arena, &found);
  if (!ok) {
    tspec_diag_error(diag, range, "'%s' is no CPU that code can be generated for; there are %s",
                     cpu, tspec_cpu_names(&arena));
  }
  tspec_arena_deinit(&arena);
  return ok;
}

// ---- target ------------------------------------------------------------------------------------

static bool create_machine(codegen_t *c) {
  LLVMInitializeX86TargetInfo();
  LLVMInitializeX86Target();
  LLVMInitializeX86TargetMC();
  LLVMInitializeX86AsmPrinter();
  char *triple = LLVMGetDefaultTargetTriple(), *error = NULL;
  LLVMTargetRef target;
  if (LLVMGetTargetFromTriple(triple, &target, &error)) {
    tspec_diag_error(c->diag, (tspec_range_t){0}, "no code can be generated for '%s': %s", triple,
                     error);
    LLVMDisposeMessage(error);
    LLVMDisposeMessage(triple);
    return false;
  }
  c->machine =
      LLVMCreateTargetMachine(target, triple, c->cpu.name, c->cpu.features,
                              LLVMCodeGenLevelAggressive, LLVMRelocPIC, LLVMCodeModelDefault);
  LLVMSetTarget(c->module, triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(c->machine);
  LLVMSetModuleDataLayout(c->module, layout);
  LLVMDisposeTargetData(layout);
  LLVMDisposeMessage(triple);
  return true;
}

// ---- wrappers and data -------------------------------------------------------------------------

static LLVMTypeRef pointer_type(codegen_t *c) {
  return LLVMPointerTypeInContext(c->context, 0);
}

/// The word at `base`[index].
static LLVMValueRef load_word(codegen_t *c, LLVMBuilderRef b, LLVMTypeRef type, LLVMValueRef base,
                              int index) {
  LLVMTypeRef i64 = LLVMInt64TypeInContext(c->context);
  LLVMValueRef place = LLVMConstInt(i64, (unsigned long long)index, false);
  LLVMValueRef address = LLVMBuildInBoundsGEP2(b, type, base, &place, 1, "");
  return LLVMBuildLoad2(b, type, address, "");
}

/// A tspec_kernel_fn_t that unpacks its arrays and calls the kernel.
static LLVMValueRef build_wrapper(codegen_t *c, const tspec_kernel_t *kernel) {
  LLVMTypeRef pointer = pointer_type(c), i64 = LLVMInt64TypeInContext(c->context);
  LLVMTypeRef params[] = {pointer, pointer, i64, i64};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(c->context), params, 4, false);
  LLVMValueRef callee = LLVMGetNamedFunction(c->module, kernel->name);
  TSPEC_CHECK(callee != NULL, "kernel '%s' got lost", kernel->name);
  const char *name = tspec_arena_printf(&c->arena, "run.%s", kernel->name);
  LLVMValueRef wrapper = LLVMAddFunction(c->module, name, type);
  LLVMSetLinkage(wrapper, LLVMInternalLinkage);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(c->context);
  LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(c->context, wrapper, ""));
  int count = kernel->nbuffers + kernel->nargs + 2;
  LLVMValueRef *args = TSPEC_ARENA_NEW(&c->arena, LLVMValueRef, count);
  for (int i = 0; i < kernel->nbuffers; i++) {
    args[i] = load_word(c, b, pointer, LLVMGetParam(wrapper, 0), i);
  }
  for (int i = 0; i < kernel->nargs; i++) {
    args[kernel->nbuffers + i] = load_word(c, b, i64, LLVMGetParam(wrapper, 1), i);
  }
  args[count - 2] = LLVMGetParam(wrapper, 2);
  args[count - 1] = LLVMGetParam(wrapper, 3);
  LLVMBuildCall2(b, LLVMGlobalGetValueType(callee), callee, args, (unsigned)count, "");
  LLVMBuildRetVoid(b);
  LLVMDisposeBuilder(b);
  return wrapper;
}

static LLVMValueRef add_constant(codegen_t *c, const char *name, LLVMValueRef value,
                                 LLVMLinkage linkage) {
  LLVMValueRef global = LLVMAddGlobal(c->module, LLVMTypeOf(value), name);
  LLVMSetInitializer(global, value);
  LLVMSetGlobalConstant(global, true);
  LLVMSetLinkage(global, linkage);
  LLVMSetAlignment(global, 16);
  return global;
}

/// "tspec_program", or with the program's name in it for an object that is linked by others.
static const char *program_symbol(codegen_t *c) {
  return c->options->emit == TSPEC_EMIT_EXE ? "tspec_program"
                                            : tspec_image_symbol(c->program, &c->arena);
}

static void build_program(codegen_t *c) {
  int count = c->program->nkernels;
  LLVMTypeRef pointer = pointer_type(c), i64 = LLVMInt64TypeInContext(c->context);
  LLVMValueRef *wrappers = TSPEC_ARENA_NEW(&c->arena, LLVMValueRef, count + 1);
  for (int i = 0; i < count; i++) {
    wrappers[i] = build_wrapper(c, &c->program->kernels[i]);
  }
  LLVMValueRef table = LLVMConstArray2(pointer, wrappers, (uint64_t)count);
  tspec_image_target_t target = {
      .cpu = c->options->cpu != NULL && strcmp(c->options->cpu, "native") != 0 ? c->options->cpu
                                                                               : c->cpu.name,
      .features = c->cpu.needed,
      .compiler = c->options->compiler,
  };
  size_t bytes;
  const void *image = tspec_image_build(c->program, &target, c->diag->sources, &c->arena, &bytes);
  LLVMValueRef data = LLVMConstStringInContext2(c->context, image, bytes, true);
  LLVMValueRef fields[] = {
      add_constant(c, "image", data, LLVMInternalLinkage),
      add_constant(c, "kernels", table, LLVMInternalLinkage),
      LLVMConstInt(i64, (unsigned long long)count, false),
  };
  LLVMValueRef compiled = LLVMConstStructInContext(c->context, fields, 3, false);
  add_constant(c, program_symbol(c), compiled, LLVMExternalLinkage);
}

// ---- output ------------------------------------------------------------------------------------

static bool optimize(codegen_t *c) {
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  // The first three are off by default in this API.
  LLVMPassBuilderOptionsSetLoopVectorization(options, 1);
  LLVMPassBuilderOptionsSetLoopInterleaving(options, 1);
  LLVMPassBuilderOptionsSetSLPVectorization(options, 1);
  // The vectoriser interleaves as far as it pays; unrolling beyond that costs up to half of the
  // compile time and gains nothing.
  LLVMPassBuilderOptionsSetLoopUnrolling(options, 0);
  // Elementary functions that nothing calls go first.
  LLVMErrorRef error = LLVMRunPasses(c->module, "globaldce,default<O3>", c->machine, options);
  LLVMDisposePassBuilderOptions(options);
  if (error != NULL) {
    char *message = LLVMGetErrorMessage(error);
    tspec_diag_error(c->diag, (tspec_range_t){0}, "LLVM fails: %s", message);
    LLVMDisposeErrorMessage(message);
    return false;
  }
  return true;
}

static bool write_file(codegen_t *c, const char *path) {
  char *error = NULL;
  bool failed;
  if (c->options->emit == TSPEC_EMIT_LLVM) {
    failed = LLVMPrintModuleToFile(c->module, path, &error);
  } else {
    failed = LLVMTargetMachineEmitToFile(
        c->machine, c->module, path,
        c->options->emit == TSPEC_EMIT_ASM ? LLVMAssemblyFile : LLVMObjectFile, &error);
  }
  if (failed) {
    tspec_diag_error(c->diag, (tspec_range_t){0}, "'%s' cannot be written: %s", path, error);
    LLVMDisposeMessage(error);
  }
  return !failed;
}

static bool generate(codegen_t *c, const char *path) {
  c->module = tspec_lower_kernels(c->program, c->context, c->diag);
  if (c->module == NULL || !create_machine(c)) {
    return false;
  }
  build_program(c);
  return optimize(c) && write_file(c, path);
}

static bool generate_file(codegen_t *c, const char *path) {
  c->context = LLVMContextCreate();
  bool ok = generate(c, path);
  if (c->machine != NULL) {
    LLVMDisposeTargetMachine(c->machine);
  }
  if (c->module != NULL) {
    LLVMDisposeModule(c->module);
  }
  LLVMContextDispose(c->context);
  return ok;
}

bool tspec_codegen_run(const tspec_program_t *program, const tspec_codegen_t *options,
                       tspec_diag_t *diag) {
  TSPEC_CHECK(program->level == TSPEC_LEVEL_KERNELS, "code generation before fuse");
  codegen_t c = {.program = program, .options = options, .diag = diag};
  tspec_arena_init(&c.arena);
  bool ok = tspec_codegen_check_cpu(options->cpu, (tspec_range_t){0}, diag) &&
            tspec_cpu_find(options->cpu, &c.arena, &c.cpu);
  if (ok && options->emit == TSPEC_EMIT_EXE) {
    const char *object = tspec_arena_printf(&c.arena, "%s.%ld.o", options->output, (long)getpid());
    ok = generate_file(&c, object) && tspec_link_executable(object, options, diag);
    (void)unlink(object);
  } else if (ok) {
    ok = generate_file(&c, options->output);
  }
  tspec_arena_deinit(&c.arena);
  return ok;
}
