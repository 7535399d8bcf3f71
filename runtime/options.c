#include "runtime/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/file.h"

typedef struct parser_t {
  int argc;
  char **argv;
  int at;
  tspec_rt_options_t *options;
  tspec_rt_error_t *error;
} parser_t;

#define USAGE(parser, ...) tspec_rt_fail((parser)->error, TSPEC_RT_USAGE, __VA_ARGS__)

// The value of an option, from `--name=value` or the next argument.
static tspec_rt_status_t take_value(parser_t *parser, const char *attached, const char *option,
                                    const char **out_value) {
  if (attached == NULL && (parser->at >= parser->argc || parser->argv[parser->at] == NULL)) {
    (void)USAGE(parser, "%s needs a value", option);
    return TSPEC_RT_USAGE;
  }
  *out_value = attached != NULL ? attached : parser->argv[parser->at++];
  return TSPEC_RT_OK;
}

static tspec_rt_status_t parse_number(parser_t *parser, const char *option, const char *text,
                                      int64_t low, int64_t *out_number) {
  char *end = NULL;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || number < low || number > INT32_MAX) {
    return USAGE(parser, "%s wants a whole number from %lld on, got '%s'", option, (long long)low,
                 text);
  }
  *out_number = number;
  return TSPEC_RT_OK;
}

static tspec_rt_status_t parse_seed(parser_t *parser, const char *text) {
  char *end = NULL;
  errno = 0;
  unsigned long long seed = strtoull(text, &end, 0);
  if (end == text || *end != '\0' || errno != 0 || *text == '-') {
    return USAGE(parser, "--seed wants a whole number from 0 on, got '%s'", text);
  }
  parser->options->seed = seed;
  return TSPEC_RT_OK;
}

static tspec_rt_status_t parse_binding(parser_t *parser, const char *option, const char *text,
                                       tspec_rt_binding_t *bindings, int *count) {
  const char *equals = strchr(text, '=');
  if (equals == NULL || equals == text || equals[1] == '\0') {
    return USAGE(parser, "%s wants NAME=FILE%s, got '%s'", option,
                 strcmp(option, "--in") == 0 ? " or NAME=NUMBER" : "", text);
  }
  for (int i = 0; i < *count; ++i) {
    if (bindings[i].name_length == equals - text &&
        strncmp(bindings[i].name, text, (size_t)(equals - text)) == 0) {
      return USAGE(parser, "%s gives '%.*s' twice", option, bindings[i].name_length, text);
    }
  }
  bindings[(*count)++] = (tspec_rt_binding_t){text, (int)(equals - text), equals + 1};
  return TSPEC_RT_OK;
}

// Options without a value. False if it is none.
static bool parse_flag(parser_t *parser, const char *name) {
  tspec_rt_options_t *options = parser->options;
  if (strcmp(name, "--help") == 0) {
    options->mode = TSPEC_RT_MODE_HELP;
  } else if (strcmp(name, "--version") == 0) {
    options->mode = TSPEC_RT_MODE_VERSION;
  } else if (strcmp(name, "--info") == 0) {
    options->mode = TSPEC_RT_MODE_INFO;
  } else if (strcmp(name, "--quiet") == 0) {
    options->quiet = true;
  } else if (strcmp(name, "--deterministic") == 0) {
    options->deterministic = true;
  } else {
    return false;
  }
  return true;
}

static tspec_rt_status_t use_value(parser_t *parser, const char *name, const char *value) {
  tspec_rt_options_t *options = parser->options;
  if (strcmp(name, "--in") == 0) {
    return parse_binding(parser, name, value, options->ins, &options->nins);
  }
  if (strcmp(name, "--out") == 0) {
    return parse_binding(parser, name, value, options->outs, &options->nouts);
  }
  if (strcmp(name, "--steps") == 0) {
    return parse_number(parser, name, value, 1, &options->steps);
  }
  if (strcmp(name, "--ranks") == 0) {
    return parse_number(parser, name, value, 1, &options->ranks);
  }
  if (strcmp(name, "--threads") == 0) {
    return parse_number(parser, name, value, 1, &options->threads);
  }
  if (strcmp(name, "--seed") == 0) {
    return parse_seed(parser, value);
  }
  const char **file = strcmp(name, "--load") == 0      ? &options->load
                      : strcmp(name, "--save") == 0    ? &options->save
                      : strcmp(name, "--profile") == 0 ? &options->profile
                                                       : &options->counts;
  *file = value;
  return TSPEC_RT_OK;
}

static bool takes_value(const char *name) {
  static const char *const names[] = {"--in",     "--out",   "--load",  "--save",    "--profile",
                                      "--counts", "--steps", "--ranks", "--threads", "--seed"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    if (strcmp(name, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

static tspec_rt_status_t parse_option(parser_t *parser, const char *argument) {
  char name[32];
  const char *equals = strchr(argument, '=');
  size_t length = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
  if (length >= sizeof name) {
    return USAGE(parser, "unknown option '%s'", argument);
  }
  memcpy(name, argument, length);
  name[length] = '\0';
  if (takes_value(name)) {
    const char *value = NULL;
    TSPEC_RT_TRY(take_value(parser, equals != NULL ? equals + 1 : NULL, name, &value));
    return use_value(parser, name, value);
  }
  if (equals == NULL && parse_flag(parser, name)) {
    return TSPEC_RT_OK;
  }
  return USAGE(parser, "unknown option '%s'", argument);
}

static tspec_rt_status_t parse_timeout(parser_t *parser) {
  const char *text = getenv("TSPEC_TIMEOUT");
  parser->options->timeout_seconds = 300;
  if (text == NULL || *text == '\0') {
    return TSPEC_RT_OK;
  }
  char *end = NULL;
  double seconds = strtod(text, &end);
  if (end == text || *end != '\0' || !(seconds > 0) || isinf(seconds)) {
    return USAGE(parser, "TSPEC_TIMEOUT wants a number of seconds, got '%s'", text);
  }
  parser->options->timeout_seconds = seconds;
  return TSPEC_RT_OK;
}

tspec_rt_status_t tspec_rt_options_parse(int argc, char **argv, tspec_rt_pool_t *pool,
                                         tspec_rt_error_t *error, tspec_rt_options_t *out_options) {
  *out_options = (tspec_rt_options_t){.steps = 1};
  parser_t parser = {.argc = argc, .argv = argv, .at = 1, .options = out_options, .error = error};
  out_options->ins = tspec_rt_pool_get(pool, (size_t)argc + 1, sizeof(tspec_rt_binding_t));
  out_options->outs = tspec_rt_pool_get(pool, (size_t)argc + 1, sizeof(tspec_rt_binding_t));
  if (out_options->ins == NULL || out_options->outs == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_MEMORY, "out of memory");
  }
  while (parser.at < argc) {
    const char *argument = argv[parser.at++];
    if (argument[0] == '-' && argument[1] != '\0') {
      TSPEC_RT_TRY(parse_option(&parser, argument));
    } else if (out_options->entry == NULL) {
      out_options->entry = argument;
    } else {
      return USAGE(&parser, "'%s' and '%s': one entry at a time", out_options->entry, argument);
    }
  }
  return parse_timeout(&parser);
}

const char *tspec_rt_binding_find(const tspec_rt_binding_t *bindings, int count, const char *name) {
  for (int i = 0; i < count; ++i) {
    if ((size_t)bindings[i].name_length == strlen(name) &&
        strncmp(bindings[i].name, name, strlen(name)) == 0) {
      return bindings[i].value;
    }
  }
  return NULL;
}

// "'a', 'b'"; cut if longer.
static const char *list_slots(const tspec_rt_slot_t *slots, int count, char *out,
                              size_t out_bytes) {
  size_t at = 0;
  (void)snprintf(out, out_bytes, "none");
  for (int i = 0; i < count && at < out_bytes; ++i) {
    at += (size_t)snprintf(out + at, out_bytes - at, "%s'%s'", i > 0 ? ", " : "", slots[i].name);
  }
  return out;
}

static bool is_slot(const tspec_rt_binding_t *binding, const tspec_rt_slot_t *slots, int nslots) {
  for (int s = 0; s < nslots; ++s) {
    if ((size_t)binding->name_length == strlen(slots[s].name) &&
        strncmp(binding->name, slots[s].name, strlen(slots[s].name)) == 0) {
      return true;
    }
  }
  return false;
}

static tspec_rt_status_t check_names(const tspec_rt_options_t *options,
                                     const tspec_rt_entry_t *entry, bool inputs,
                                     tspec_rt_error_t *error) {
  const tspec_rt_binding_t *bindings = inputs ? options->ins : options->outs;
  const tspec_rt_slot_t *slots = inputs ? entry->inputs : entry->results;
  int nslots = inputs ? entry->ninputs : entry->nresults;
  for (int i = 0; i < (inputs ? options->nins : options->nouts); ++i) {
    if (!is_slot(&bindings[i], slots, nslots)) {
      char names[512];
      return tspec_rt_fail(error, TSPEC_RT_USAGE, "'%s' has no %s '%.*s'; it has %s", entry->name,
                           inputs ? "input" : "result", bindings[i].name_length, bindings[i].name,
                           list_slots(slots, nslots, names, sizeof names));
    }
  }
  return TSPEC_RT_OK;
}

static tspec_rt_status_t unknown_entry(const tspec_rt_options_t *options,
                                       const tspec_rt_program_t *program, tspec_rt_error_t *error) {
  char names[512] = "none";
  size_t at = 0;
  for (int i = 0; i < program->nentries && at < sizeof names; ++i) {
    at += (size_t)snprintf(names + at, sizeof names - at, "%s'%s'", i > 0 ? ", " : "",
                           program->entries[i].name);
  }
  if (options->entry == NULL) {
    return tspec_rt_fail(error, TSPEC_RT_USAGE, "which entry? there is %s", names);
  }
  return tspec_rt_fail(error, TSPEC_RT_USAGE, "no entry '%s'; there is %s", options->entry, names);
}

tspec_rt_status_t tspec_rt_options_check(const tspec_rt_options_t *options,
                                         tspec_rt_program_t *program, tspec_rt_error_t *error) {
  const tspec_rt_entry_t *entry =
      options->entry == NULL ? NULL : tspec_rt_program_find_entry(program, options->entry);
  if (entry == NULL) {
    return unknown_entry(options, program, error);
  }
  TSPEC_RT_TRY(check_names(options, entry, true, error));
  TSPEC_RT_TRY(check_names(options, entry, false, error));
  for (int i = 0; i < options->nouts; ++i) {
    const char *value = options->outs[i].value;
    size_t length = strlen(value);
    if (length < 5 || strcmp(value + length - 4, ".npy") != 0) {
      return tspec_rt_fail(error, TSPEC_RT_USAGE, "--out writes .npy files, got '%s'", value);
    }
  }
  for (int i = 0; i < entry->ninputs; ++i) {
    const tspec_rt_slot_t *input = &entry->inputs[i];
    if (tspec_rt_binding_find(options->ins, options->nins, input->name) == NULL) {
      char type[256];
      return tspec_rt_fail(error, TSPEC_RT_INPUT, "input '%s' (%s) of '%s' needs --in %s=FILE",
                           input->name,
                           tspec_rt_tensor_print(input->buffer->tensor, type, sizeof type),
                           entry->name, input->name);
    }
  }
  if (options->ranks != 0 && options->ranks != program->mesh.nranks) {
    return tspec_rt_fail(error, TSPEC_RT_RANKS,
                         "--ranks %lld, but the mesh needs %lld: compile for "
                         "another mesh to change it",
                         (long long)options->ranks, (long long)program->mesh.nranks);
  }
  return TSPEC_RT_OK;
}
