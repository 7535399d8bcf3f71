#include "frontend/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/str.h"

/// One parse at work.
typedef struct parser_t {
  tspec_arena_t *arena;
  FILE *errors;
  tspec_command_t *command;
} parser_t;

typedef bool (*set_fn_t)(parser_t *parser, const char *name, const char *value);

/// Whether an option takes a value.
typedef enum takes_t {
  TAKES_NONE,
  TAKES_VALUE, ///< "-o FILE", "--mesh M" or "--mesh=M"
  TAKES_MAYBE, ///< "--report" or "--report=json"
} takes_t;

typedef struct option_t {
  const char *name;
  takes_t takes;
  const char *value; ///< how --help names it
  const char *help;
  set_fn_t set;
} option_t;

static bool fail(parser_t *parser, const char *name, const char *value, const char *wanted) {
  fprintf(parser->errors, "tspecc: error: %s: got '%s', wanted %s\n", name, value, wanted);
  return false;
}

// ---- one function per option ----

#define FLAG(field)                                                                                \
  static bool set_##field(parser_t *parser, const char *name, const char *value) {                 \
    (void)name, (void)value;                                                                       \
    parser->command->field = true;                                                                 \
    return true;                                                                                   \
  }
#define TEXT(field)                                                                                \
  static bool set_##field(parser_t *parser, const char *name, const char *value) {                 \
    (void)name;                                                                                    \
    parser->command->field = value;                                                                \
    return true;                                                                                   \
  }
#define WORDS(field)                                                                               \
  static bool set_##field(parser_t *parser, const char *name, const char *value) {                 \
    (void)name;                                                                                    \
    TSPEC_VEC_PUSH(parser->arena, &parser->command->field, value);                                 \
    return true;                                                                                   \
  }

FLAG(help)
FLAG(version)
FLAG(list_rules)
FLAG(verbose)
FLAG(time_passes)
FLAG(lint)
FLAG(strict)
FLAG(check)
TEXT(output)
TEXT(mesh)
TEXT(cpu)
TEXT(dump_dir)
TEXT(passes)
TEXT(stop_after)
WORDS(entries)
WORDS(sets)
WORDS(rules)
WORDS(plugins)

/// --list-passes and --list-ops: as text, or as a page of docs/.
static bool set_list(parser_t *parser, const char *name, const char *value) {
  bool passes = strcmp(name, "--list-passes") == 0;
  *(passes ? &parser->command->list_passes : &parser->command->list_ops) = true;
  parser->command->list_md = value != NULL;
  return value == NULL || strcmp(value, "md") == 0 || fail(parser, name, value, "md");
}

static bool set_nranks(parser_t *parser, const char *name, const char *value) {
  char *end = NULL;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  if (errno != 0 || end == value || *end != '\0' || number < 1) {
    return fail(parser, name, value, "a number of ranks, at least 1");
  }
  parser->command->nranks = number;
  return true;
}

static bool set_emit(parser_t *parser, const char *name, const char *value) {
  static const char *const kNames[] = {
      [TSPEC_OUTPUT_EXE] = "exe",   [TSPEC_OUTPUT_OBJ] = "obj",   [TSPEC_OUTPUT_ASM] = "asm",
      [TSPEC_OUTPUT_LLVM] = "llvm", [TSPEC_OUTPUT_MLIR] = "mlir", [TSPEC_OUTPUT_TSPEC] = "tspec",
  };
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    if (strcmp(kNames[i], value) == 0) {
      parser->command->emit = (tspec_output_t)i;
      parser->command->emit_given = true;
      return true;
    }
  }
  return fail(parser, name, value, "exe, obj, asm, llvm, mlir or tspec");
}

static bool set_report_kind(parser_t *parser, const char *name, const char *value,
                            tspec_report_t *out_kind) {
  *out_kind = value == NULL ? TSPEC_REPORT_TEXT : TSPEC_REPORT_JSON;
  return value == NULL || strcmp(value, "json") == 0 || fail(parser, name, value, "json");
}

static bool set_report(parser_t *parser, const char *name, const char *value) {
  return set_report_kind(parser, name, value, &parser->command->report);
}

static bool set_shardings(parser_t *parser, const char *name, const char *value) {
  return set_report_kind(parser, name, value, &parser->command->shardings);
}

static bool set_verify_each(parser_t *parser, const char *name, const char *value) {
  if (value != NULL && strcmp(value, "on") != 0 && strcmp(value, "off") != 0) {
    return fail(parser, name, value, "on or off");
  }
  parser->command->verify_each = value == NULL || strcmp(value, "on") == 0;
  return true;
}

static bool set_no_verify_each(parser_t *parser, const char *name, const char *value) {
  (void)name, (void)value;
  parser->command->verify_each = false;
  return true;
}

static const char *after_prefix(const char *text, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static bool parse_level(const char *text, tspec_level_t *out_level) {
  for (int i = TSPEC_LEVEL_GLOBAL; i <= TSPEC_LEVEL_KERNELS; i++) {
    if (strcmp(text, tspec_level_name((tspec_level_t)i)) == 0) {
      *out_level = (tspec_level_t)i;
      return true;
    }
  }
  return false;
}

static bool set_dump_ir(parser_t *parser, const char *name, const char *value) {
  tspec_dump_t dump = {.kind = TSPEC_DUMP_LEVEL, .level = TSPEC_LEVEL_SHARDED};
  if (value != NULL) {
    const char *before = after_prefix(value, "before:");
    const char *after = after_prefix(value, "after:");
    if (before != NULL || after != NULL) {
      dump.kind = before != NULL ? TSPEC_DUMP_BEFORE : TSPEC_DUMP_AFTER;
      dump.pass = before != NULL ? before : after;
    } else if (strcmp(value, "source") == 0) {
      dump.kind = TSPEC_DUMP_SOURCE;
    } else if (strcmp(value, "all") == 0) {
      dump.kind = TSPEC_DUMP_ALL;
    } else if (!parse_level(value, &dump.level)) {
      return fail(parser, name, value,
                  "source, global, sharded, local, kernels, before:PASS, after:PASS or all");
    }
  }
  TSPEC_VEC_PUSH(parser->arena, &parser->command->dumps, dump);
  return true;
}

static bool set_explain(parser_t *parser, const char *name, const char *value) {
  tspec_command_t *command = parser->command;
  const char *json = value == NULL ? NULL : after_prefix(value, "json");
  if (json != NULL && *json != '\0' && *json != ':') {
    json = NULL; // a name that begins so
  }
  if (json != NULL) {
    value = *json == ':' ? json + 1 : NULL;
  }
  if (value != NULL && *value == '\0') {
    return fail(parser, name, value, "a value, json or json:VALUE");
  }
  command->explain =
      json != NULL || command->explain == TSPEC_REPORT_JSON ? TSPEC_REPORT_JSON : TSPEC_REPORT_TEXT;
  if (value != NULL) {
    TSPEC_VEC_PUSH(parser->arena, &command->explained, value);
  }
  return true;
}

static bool set_cost_model(parser_t *parser, const char *name, const char *value) {
  static const char *const kNames[] = {[TSPEC_COST_BYTES] = "bytes", [TSPEC_COST_VOTES] = "votes"};
  for (int i = 0; i < 2; i++) {
    if (strcmp(value, kNames[i]) == 0) {
      parser->command->cost_model = (tspec_cost_model_t)i;
      return true;
    }
  }
  return fail(parser, name, value, "bytes or votes");
}

/// An option of the language's tools that has no code behind it in this build.
static bool set_missing(parser_t *parser, const char *name, const char *value) {
  (void)value;
  fprintf(parser->errors, "tspecc: error: %s is not in this build\n", name);
  return false;
}

static const option_t kOptions[] = {
    {"-o", TAKES_VALUE, "OUT", "write the result there; '-': to standard output", set_output},
    {"--entry", TAKES_VALUE, "NAME", "compile this entry (repeatable; default: all)", set_entries},
    {"--mesh", TAKES_VALUE, "M", "sizes of mesh axes, data=4,model=2", set_mesh},
    {"--set", TAKES_VALUE, "NAME=V", "replace the value of a const or an axis", set_sets},
    {"--rules", TAKES_VALUE, "FILE", "shard rules that come before the program's", set_rules},
    {"--ranks", TAKES_VALUE, "N", "number of ranks, for a mesh size of -1", set_nranks},
    {"--cpu", TAKES_VALUE, "C", "native, x86-64-v2, x86-64-v3, x86-64-v4 or a CPU's name", set_cpu},
    {"--emit", TAKES_VALUE, "KIND", "exe (default), obj (and a C header), asm, llvm, mlir or tspec",
     set_emit},
    {"--dump-ir", TAKES_MAYBE, "LEVEL",
     "print source, global, sharded (default), local, kernels,\n"
     "                          before:PASS, after:PASS or all",
     set_dump_ir},
    {"--dump-dir", TAKES_VALUE, "DIR", "write dumps to files there", set_dump_dir},
    {"--time-passes", TAKES_NONE, NULL, "print how long each pass took", set_time_passes},
    {"--stop-after", TAKES_VALUE, "PASS", "stop there and print the program", set_stop_after},
    {"--passes", TAKES_VALUE, "P,Q", "run these passes, ours or MLIR's, and print the program",
     set_passes},
    {"--pass-plugin", TAKES_VALUE, "LIB[,KEY=V]...",
     "load passes from a shared library and set their options", set_plugins},
    {"--verify-each", TAKES_MAYBE, "off", "verify the program after each pass (default: on)",
     set_verify_each},
    {"--no-verify-each", TAKES_NONE, NULL, "the same as --verify-each=off", set_no_verify_each},
    {"--cost-model", TAKES_VALUE, "MODEL",
     "choose layouts by bytes (default: the fewest sent) or by votes (as Shardy)", set_cost_model},
    {"--explain", TAKES_MAYBE, "VALUE",
     "why values are split as they are: of all, of VALUE (repeatable:\n"
     "                          a let, input, parameter or result, NAME, PATH, ENTRY/NAME or\n"
     "                          FILE:LINE), and of collectives; json or json:VALUE as JSON",
     set_explain},
    {"--report", TAKES_MAYBE, "json", "the collectives of each entry and what they cost",
     set_report},
    {"--shardings", TAKES_MAYBE, "json", "sharding and block of each value", set_shardings},
    {"--visualize", TAKES_VALUE, "FILE", "a picture of tensors and blocks", set_missing},
    {"--lint", TAKES_NONE, NULL, "say more about what may be unwanted", set_lint},
    {"--strict", TAKES_NONE, NULL, "warnings are errors", set_strict},
    {"--check", TAKES_NONE, NULL, "evaluate on all ranks and on one, and compare", set_check},
    {"--list-passes", TAKES_MAYBE, "md", "print all passes", set_list},
    {"--list-ops", TAKES_MAYBE, "md", "print all ops", set_list},
    {"--list-rules", TAKES_NONE, NULL, "print the factor rule of each op of FILE", set_list_rules},
    {"-v", TAKES_NONE, NULL, "say what is done", set_verbose},
    {"--help", TAKES_NONE, NULL, "print this", set_help},
    {"--version", TAKES_NONE, NULL, "print the version", set_version},
};

enum { NOPTIONS = sizeof kOptions / sizeof *kOptions };

void tspec_command_print_help(FILE *stream) {
  fputs("usage: tspecc FILE.tspec|FILE.mlir [OPTION]...\n"
        "Compiles a program to an executable that runs sharded over MPI ranks.\n\n",
        stream);
  for (int i = 0; i < NOPTIONS; i++) {
    const option_t *option = &kOptions[i];
    if (option->set == set_missing) {
      continue;
    }
    const char *between = option->takes == TAKES_NONE    ? ""
                          : option->takes == TAKES_MAYBE ? "[="
                          : option->name[1] == '-'       ? "="
                                                         : " ";
    int width = fprintf(stream, "  %s%s%s%s", option->name, between,
                        option->takes == TAKES_NONE ? "" : option->value,
                        option->takes == TAKES_MAYBE ? "]" : "");
    fprintf(stream, "%*s%s\n", width < 25 ? 26 - width : 1, "", option->help);
  }
}

// ---- parsing ----

bool tspec_command_check_pass(tspec_arena_t *arena, const char *option, const char *name,
                              const tspec_extra_passes_t *extras, FILE *errors) {
  if (tspec_pass_find(name) != NULL || tspec_extra_pass_find(extras, name) != NULL) {
    return true;
  }
  const char *nearest = tspec_pass_nearest(arena, extras, name);
  fprintf(errors, "tspecc: error: %s: there is no pass '%s'%s%s%s\n", option, name,
          nearest == NULL ? " (--list-passes shows them)" : "; did you mean '",
          nearest == NULL ? "" : nearest, nearest == NULL ? "" : "'?");
  return false;
}

/// Names of passes in other options, if all passes are known by now.
static bool check_passes(parser_t *parser) {
  const tspec_command_t *command = parser->command;
  bool ok = true;
  if (command->passes != NULL || command->plugins.count > 0) {
    return ok;
  }
  for (size_t i = 0; i < command->dumps.count && ok; i++) {
    const tspec_dump_t *dump = &command->dumps.items[i];
    ok = dump->pass == NULL ||
         tspec_command_check_pass(parser->arena, "--dump-ir", dump->pass, NULL, parser->errors);
  }
  return ok && (command->stop_after == NULL ||
                tspec_command_check_pass(parser->arena, "--stop-after", command->stop_after, NULL,
                                         parser->errors));
}

static const option_t *find_option(const char *text, size_t length) {
  for (int i = 0; i < NOPTIONS; i++) {
    if (strlen(kOptions[i].name) == length && strncmp(kOptions[i].name, text, length) == 0) {
      return &kOptions[i];
    }
  }
  return NULL;
}

static bool report_unknown(parser_t *parser, const char *text, size_t length) {
  tspec_names_t names = {0};
  for (int i = 0; i < NOPTIONS; i++) {
    tspec_names_set(parser->arena, &names, kOptions[i].name, (void *)&kOptions[i]);
  }
  const char *name = tspec_arena_strdup(parser->arena, text, length);
  const char *nearest = tspec_names_nearest(&names, name);
  fprintf(parser->errors, "tspecc: error: there is no option '%s'%s%s%s\n", name,
          nearest == NULL ? "" : "; did you mean '", nearest == NULL ? "" : nearest,
          nearest == NULL ? "" : "'?");
  return false;
}

/// Parses the option at argv[*index] and moves past a value of its own.
static bool parse_option(parser_t *parser, int argc, const char *const *argv, int *index) {
  const char *text = argv[*index];
  const char *equals = strncmp(text, "--", 2) == 0 ? strchr(text, '=') : NULL;
  size_t length = equals == NULL ? strlen(text) : (size_t)(equals - text);
  const option_t *option = find_option(text, length);
  if (option == NULL) {
    return report_unknown(parser, text, length);
  }
  const char *value = equals == NULL ? NULL : equals + 1;
  if (value != NULL && option->takes == TAKES_NONE) {
    fprintf(parser->errors, "tspecc: error: %s takes no value, got '%s'\n", option->name, value);
    return false;
  }
  if (value == NULL && option->takes == TAKES_VALUE) {
    if (*index + 1 >= argc) {
      fprintf(parser->errors, "tspecc: error: %s wants a value: %s\n", option->name, option->value);
      return false;
    }
    value = argv[++*index];
  }
  return option->set(parser, option->name, value);
}

static bool parse_input(parser_t *parser, const char *text) {
  if (strcmp(text, "compare") == 0 || strcmp(text, "diff") == 0) {
    return set_missing(parser, text, NULL);
  }
  if (parser->command->input != NULL) {
    fprintf(parser->errors, "tspecc: error: one input file wanted, got '%s' and '%s'\n",
            parser->command->input, text);
    return false;
  }
  parser->command->input = text;
  return true;
}

/// What several options must not say together.
static bool check_command(parser_t *parser) {
  const tspec_command_t *command = parser->command;
  bool lists = command->help || command->version || command->list_passes || command->list_ops;
  if (command->input == NULL && !lists) {
    fputs("tspecc: error: no input file; --help says more\n", parser->errors);
    return false;
  }
  if (command->emit_given && command->stop_after != NULL) {
    fputs("tspecc: error: --emit and --stop-after: both say what the result is\n", parser->errors);
    return false;
  }
  if (command->dump_dir != NULL && command->dumps.count == 0) {
    fputs("tspecc: error: --dump-dir without --dump-ir\n", parser->errors);
    return false;
  }
  return check_passes(parser);
}

bool tspec_command_parse(tspec_arena_t *arena, int argc, const char *const *argv, FILE *errors,
                         tspec_command_t *out_command) {
  *out_command = (tspec_command_t){.verify_each = true};
  parser_t parser = {arena, errors, out_command};
  for (int i = 1; i < argc; i++) {
    bool ok = argv[i][0] == '-' && argv[i][1] != '\0' ? parse_option(&parser, argc, argv, &i)
                                                      : parse_input(&parser, argv[i]);
    if (!ok) {
      return false;
    }
  }
  return check_command(&parser);
}
