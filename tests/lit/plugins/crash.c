// A plugin that goes wrong in the way that its option asks for. It is used by tests alone.
#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>
#include <tspec/plugin.h>

static MlirStringRef ref(const char *text) {
  return mlirStringRefCreateFromCString(text);
}

/// Sets attribute `name` of the first op called `op` in the text form of MLIR.
typedef struct change_t {
  const char *op;
  const char *name;
  const char *value;
} change_t;

static bool set_attr(tspec_plugin_run_t *run, const char *entry, MlirOperation op, void *user) {
  (void)entry;
  const change_t *change = user;
  if (strcmp(tspec_plugin_op_name(run, op), change->op) == 0) {
    mlirOperationSetAttributeByName(
        op, ref(change->name),
        mlirAttributeParseGet(tspec_plugin_context(run), ref(change->value)));
    return false;
  }
  return true;
}

static void change(tspec_plugin_run_t *run, change_t what) {
  tspec_plugin_for_each_op(run, set_attr, &what);
}

/// Deeper than any stack.
static int64_t descend(int64_t depth) {
  volatile int64_t here[512] = {depth};
  return depth < 0 ? 0 : descend(depth + 1) + here[depth % 512];
}

/// What only sanitizers see. The size is not known to the compiler.
static void misuse_memory(tspec_plugin_run_t *run, const char *how) {
  int count = tspec_plugin_mesh(run)->naxes;
  volatile int *items = calloc((size_t)count, sizeof *items);
  items[strcmp(how, "overrun") == 0 ? count : 0] = 1;
  if (strcmp(how, "leak") != 0) {
    free((void *)items);
  }
  items = NULL;
}

static bool run_crash(tspec_plugin_run_t *run) {
  const char *how = tspec_plugin_option(run, "how");
  if (strcmp(how, "check") == 0) {
    TSPEC_CHECK(tspec_plugin_mesh(run)->naxes > 99, "the mesh has %d axes",
                tspec_plugin_mesh(run)->naxes);
  } else if (strcmp(how, "segfault") == 0) {
    volatile int *nowhere = NULL;
    *nowhere = 1;
  } else if (strcmp(how, "overflow") == 0) {
    return descend(0) > 0;
  } else if (strcmp(how, "overrun") == 0 || strcmp(how, "leak") == 0) {
    misuse_memory(run, how);
  } else if (strcmp(how, "no-program") == 0) {
    change(run, (change_t){"add", "unknown", "1 : i64"});
  } else if (strcmp(how, "bad-sharding") == 0) {
    change(run, (change_t){"add", "shardings", "[#tspec.sharding<\"[?]\">]"});
  } else if (strcmp(how, "bad-axis") == 0) {
    change(run, (change_t){"add", "shardings", "[#tspec.sharding<\"[nowhere]\">]"});
  } else if (strcmp(how, "no-reason") == 0) {
    return false;
  } else if (strcmp(how, "messages") == 0) {
    MlirLocation nowhere = mlirLocationUnknownGet(tspec_plugin_context(run));
    tspec_plugin_warning(run, nowhere, "a warning of a plugin");
    tspec_plugin_error(run, nowhere, "an error of a plugin");
  }
  return true;
}

static const tspec_plugin_option_t kOptions[] = {
    {"how", "not",
     "check, segfault, overflow, overrun, leak, no-program, bad-sharding, bad-axis, no-reason, "
     "messages"},
};

static const tspec_plugin_pass_t kPass = {
    .name = "crash",
    .summary = "goes wrong",
    .after = "propagate",
    .noptions = 1,
    .options = kOptions,
    .run = run_crash,
};

static void add_passes(tspec_plugin_registry_t *registry) {
  tspec_plugin_add_pass(registry, &kPass);
}

const tspec_plugin_t *tspec_plugin_get(void) {
  static const tspec_plugin_t kPlugin = {TSPEC_PLUGIN_ABI_VERSION, "crash", add_passes};
  return &kPlugin;
}
