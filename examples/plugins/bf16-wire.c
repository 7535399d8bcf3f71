// bf16-wire: sums of f32 values travel as bf16, half the bytes, where they are large.
//
//   tspecc mlp.tspec --pass-plugin=libbf16-wire.so[,min-bytes=N]
//
// Each rank rounds what it adds, so results change in their last digits: that is the choice which
// this plugin makes for the whole program. Every rewritten all_reduce is noted at its source line.
//
//   before:  %r = all_reduce(%x)                 f32
//   after:   %a = convert(%x) {partial = 1}      f32 -> bf16, rounds what each rank adds
//            %b = all_reduce(%a)                 bf16
//            %r = convert(%b)                    bf16 -> f32
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>
#include <tspec/plugin.h>

/// What the walk carries along.
typedef struct wire_t {
  int64_t min_bytes;
} wire_t;

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/// True for an all_reduce of the kind sum.
static bool is_sum(tspec_plugin_run_t *run, MlirOperation op) {
  if (strcmp(tspec_plugin_op_name(run, op), "all_reduce") != 0) {
    return false;
  }
  MlirAttribute kind = mlirOperationGetAttributeByName(op, ref("kind"));
  return mlirStringRefEqual(mlirStringAttrGetValue(kind), ref("sum"));
}

static MlirValue convert(tspec_plugin_run_t *run, MlirOperation before, MlirValue operand,
                         MlirType element, tspec_type_t type, const tspec_sharding_t *sharding) {
  MlirContext context = tspec_plugin_context(run);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  const MlirNamedAttribute attrs[] = {
      tspec_plugin_attr(run, "dtype", mlirTypeAttrGet(element)),
      tspec_plugin_attr(run, "partial", mlirIntegerAttrGet(i64, 1)),
  };
  tspec_plugin_build_t build = {.name = "convert",
                                .noperands = 1,
                                .operands = &operand,
                                .nattrs = sharding->npending > 0 ? 2 : 1,
                                .attrs = attrs,
                                .type = type,
                                .sharding = sharding,
                                .location = mlirOperationGetLocation(before),
                                .because = "bf16-wire"};
  return tspec_plugin_insert(run, before, &build);
}

/// The same all_reduce of another operand and type.
static MlirValue reduce(tspec_plugin_run_t *run, MlirOperation before, MlirValue operand,
                        tspec_type_t type, const tspec_sharding_t *sharding) {
  const MlirNamedAttribute attrs[] = {
      tspec_plugin_attr(run, "kind", mlirOperationGetAttributeByName(before, ref("kind"))),
      tspec_plugin_attr(run, "axes", mlirOperationGetAttributeByName(before, ref("axes"))),
  };
  tspec_plugin_build_t build = {.name = "all_reduce",
                                .noperands = 1,
                                .operands = &operand,
                                .nattrs = 2,
                                .attrs = attrs,
                                .type = type,
                                .sharding = sharding,
                                .location = mlirOperationGetLocation(before)};
  return tspec_plugin_insert(run, before, &build);
}

static bool rewrite(tspec_plugin_run_t *run, MlirOperation op, int64_t bytes) {
  MlirContext context = tspec_plugin_context(run);
  MlirValue operand = mlirOperationGetOperand(op, 0);
  MlirValue result = mlirOperationGetResult(op, 0);
  const tspec_sharding_t *from = NULL, *to = NULL;
  tspec_type_t type;
  if (!tspec_plugin_get_type(run, operand, &type) ||
      !tspec_plugin_get_sharding(run, operand, &from) ||
      !tspec_plugin_get_sharding(run, result, &to)) {
    return false;
  }
  tspec_type_t half = type;
  half.dtype = TSPEC_DTYPE_BF16;
  MlirValue rounded = convert(run, op, operand, mlirBF16TypeGet(context), half, from);
  MlirValue sum = reduce(run, op, rounded, half, to);
  MlirValue back = convert(run, op, sum, mlirF32TypeGet(context), type, to);
  tspec_plugin_note(run, mlirOperationGetLocation(op),
                    "bf16-wire: this all_reduce sends %lld bytes instead of %lld",
                    (long long)tspec_plugin_collective_bytes(run, mlirOpResultGetOwner(sum)),
                    (long long)bytes);
  mlirValueReplaceAllUsesOfWith(result, back);
  mlirOperationDestroy(op);
  return true;
}

static bool visit(tspec_plugin_run_t *run, const char *entry, MlirOperation op, void *user) {
  (void)entry;
  const wire_t *wire = user;
  tspec_type_t type;
  if (!is_sum(run, op)) {
    return true;
  }
  if (!tspec_plugin_get_type(run, mlirOperationGetOperand(op, 0), &type)) {
    return false;
  }
  int64_t bytes = tspec_plugin_collective_bytes(run, op);
  return type.dtype != TSPEC_DTYPE_F32 || bytes < wire->min_bytes || rewrite(run, op, bytes);
}

static bool run_wire(tspec_plugin_run_t *run) {
  wire_t wire;
  return tspec_plugin_option_int(run, "min-bytes", &wire.min_bytes) &&
         tspec_plugin_for_each_op(run, visit, &wire);
}

static const tspec_plugin_option_t kOptions[] = {
    {"min-bytes", "4096", "leave all_reduces alone that send less"},
};

static const tspec_plugin_pass_t kPass = {
    .name = "bf16-wire",
    .summary = "large sums of f32 values travel as bf16",
    .level = "local",
    .after = "optimize-collectives",
    .noptions = sizeof kOptions / sizeof *kOptions,
    .options = kOptions,
    .run = run_wire,
};

static void add_passes(tspec_plugin_registry_t *registry) {
  tspec_plugin_add_pass(registry, &kPass);
}

const tspec_plugin_t *tspec_plugin_get(void) {
  static const tspec_plugin_t kPlugin = {
      .abi_version = TSPEC_PLUGIN_ABI_VERSION,
      .name = "bf16-wire",
      .add_passes = add_passes,
  };
  return &kPlugin;
}
