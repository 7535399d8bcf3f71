// One run: compiled, evaluated whole and on all ranks.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "frontend/check.h"
#include "frontend/parser.h"
#include "passes/collectives.h"
#include "passes/pipeline.h"
#include "tests/e2e/bugs.h"

enum { MAX_INPUTS = 16 };

void bugs_fail(bugs_run_t *run, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *entry = json_string_value(json_object_get(run->json, "entry"));
  fprintf(stderr, "FAILED %s %s on %s: ", run->id, entry == NULL ? "" : entry,
          run->global == NULL ? "its mesh" : tspec_mesh_print(&run->arena, &run->global->mesh));
  vfprintf(stderr, format, args);
  fputc('\n', stderr);
  va_end(args);
  ++run->nfailed;
}

static bool compile(bugs_run_t *run) {
  uint32_t file = tspec_sources_read(&run->sources, run->file);
  if (file == 0) {
    bugs_fail(run, "%s: %s", run->file, strerror(errno));
    return false;
  }
  const tspec_ast_file_t *ast = tspec_parse(&run->arena, &run->sources, file, &run->diag);
  const char *set = json_string_value(json_object_get(run->json, "set"));
  tspec_check_options_t check = {
      .mesh = run->mesh, .nsets = set != NULL, .sets = &set, .lint = true};
  run->global = tspec_check(&run->arena, &run->sources, ast, &check, &run->diag);
  if (run->global == NULL || run->diag.nerrors > 0) {
    return false;
  }
  tspec_options_t options = {.cpu = "native", .verify_each = true};
  options.nranks = tspec_mesh_nranks(&run->global->mesh);
  tspec_pipeline_run_t pass = {.program = tspec_program_clone(run->global, &run->arena),
                               .diag = &run->diag,
                               .options = &options};
  tspec_pipeline_t pipeline =
      tspec_pipeline_default(&run->arena, TSPEC_LEVEL_GLOBAL, TSPEC_LEVEL_LOCAL);
  bool ok = tspec_pipeline_run(&pipeline, &pass) && run->diag.nerrors == 0;
  run->local = pass.program;
  return ok;
}

// Each text stands in some message of that kind or in a note, all of which have a place.
static void check_messages(bugs_run_t *run, const json_t *texts, tspec_severity_t severity) {
  for (size_t i = 0; i < json_array_size(texts); ++i) {
    const char *text = json_string_value(json_array_get(texts, i));
    bool found = false;
    for (size_t m = 0; m < run->diag.count && !found; ++m) {
      const tspec_message_t *message = &run->diag.messages[m];
      found = (message->severity == severity || message->severity == TSPEC_SEVERITY_NOTE) &&
              message->range.file != 0 && strstr(message->text, text) != NULL;
    }
    if (!found) {
      bugs_fail(run, "no message says \"%s\"; these were said:", text);
      for (size_t m = 0; m < run->diag.count; ++m) {
        fprintf(stderr, "    %s\n", run->diag.messages[m].text);
      }
    }
  }
}

static int make_inputs(bugs_run_t *run, const tspec_func_t *func, tspec_eval_input_t *inputs) {
  int count = 0;
  const json_t *stated = json_object_get(run->json, "inputs");
  for (int i = 0; i < func->nargs && count < MAX_INPUTS; ++i) {
    const tspec_arg_t *arg = &func->args[i];
    if (arg->kind == TSPEC_SLOT_INPUT) {
      inputs[count++] = (tspec_eval_input_t){
          arg->name,
          bugs_tensor(run, arg->name, json_object_get(stated, arg->name), arg->value->type)};
    }
  }
  return count;
}

static void compare_bytes(bugs_run_t *run, const tspec_eval_t *ranks) {
  tspec_collective_use_t *uses = NULL;
  int count = tspec_func_collectives(run->local, run->func, &run->arena, &uses);
  int64_t predicted = 0, counted = 0, ntraffic = 0;
  for (int i = 0; i < count; ++i) {
    predicted += uses[i].bytes;
  }
  const tspec_eval_traffic_t *traffic = tspec_eval_traffic(ranks, &ntraffic);
  for (int64_t i = 0; i < ntraffic; ++i) {
    counted += traffic[i].bytes;
  }
  if (predicted != counted) {
    bugs_fail(run, "%lld bytes are predicted, %lld counted", (long long)predicted,
              (long long)counted);
  }
  const json_t *most = json_object_get(run->json, "bytes");
  if (!run->reported || most == NULL) {
    return;
  }
  const json_t *known = json_object_get(json_object_get(run->json, "known"), "bytes");
  int64_t aim = json_integer_value(most), bound = known ? json_integer_value(known) : aim;
  if (known != NULL && counted <= aim) {
    bugs_fail(run, "%lld bytes are enough now: take it off the known ones", (long long)counted);
  }
  if (counted > bound) {
    bugs_fail(run, "%lld bytes, %lld are enough", (long long)counted, (long long)bound);
    for (int i = 0; i < count; ++i) {
      fprintf(stderr, "    %s\n",
              tspec_collective_print(&run->arena, run->local, &run->sources, &uses[i]));
    }
  }
  printf("%s %s: %lld bytes, %lld are enough%s\n", run->id, run->func->name, (long long)counted,
         (long long)aim,
         counted <= aim    ? ""
         : counted < bound ? " (better than known)"
                           : " (as known)");
}

// Every key of the run is one that is read.
static void check_keys(bugs_run_t *run) {
  static const char *const keys[] = {
      "entry", "file",   "mesh",     "set",       "inputs", "results", "sums",  "begins",
      "bytes", "within", "warnings", "shardings", "blocks", "errors",  "known",
  };
  const char *key = NULL;
  json_t *ignored = NULL;
  json_object_foreach((json_t *)(uintptr_t)run->json, key, ignored) {
    bool found = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
      found = found || strcmp(keys[i], key) == 0;
    }
    if (!found) {
      bugs_fail(run, "a run has no \"%s\"", key);
    }
  }
  const json_t *known = json_object_get(run->json, "known");
  if (known != NULL && !json_is_string(json_object_get(known, "why"))) {
    bugs_fail(run, "\"known\" states no reason");
  }
}

// Every name that a table of the run states is a result.
static void check_names(bugs_run_t *run) {
  static const char *const tables[] = {"results", "sums", "begins", "shardings", "blocks"};
  for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t) {
    const char *name = NULL;
    json_t *ignored = NULL;
    json_object_foreach(json_object_get(run->json, tables[t]), name, ignored) {
      bool found = false;
      for (int i = 0; i < run->func->nresults; ++i) {
        found = found || strcmp(run->func->results[i].name, name) == 0;
      }
      if (!found) {
        bugs_fail(run, "\"%s\" names '%s', which is no result", tables[t], name);
      }
    }
  }
}

static void evaluate(bugs_run_t *run) {
  tspec_eval_input_t inputs[MAX_INPUTS];
  int nfailed = run->nfailed, ninputs = make_inputs(run, run->func, inputs);
  tspec_eval_t *whole = tspec_eval_create(run->global, &run->diag);
  tspec_eval_t *ranks = tspec_eval_create(run->local, &run->diag);
  bool ok = run->nfailed == nfailed && whole != NULL && ranks != NULL;
  if (ok) {
    tspec_eval_init_params(whole, 11);
    tspec_eval_init_params(ranks, 11);
    ok = tspec_eval_run(whole, run->func->name, inputs, ninputs) &&
         tspec_eval_run(ranks, run->func->name, inputs, ninputs);
  }
  if (!ok) {
    bugs_fail(run, "is not evaluated");
  }
  for (int i = 0; ok && i < run->func->nresults; ++i) {
    bugs_compare(run, i, whole, ranks);
    if (run->reported) {
      bugs_compare_blocks(run, i, ranks);
    }
  }
  if (ok) {
    compare_bytes(run, ranks);
  }
  for (int i = 0; i < ninputs; ++i) {
    tspec_dense_destroy((tspec_dense_t *)(uintptr_t)inputs[i].whole);
  }
  tspec_eval_destroy(whole);
  tspec_eval_destroy(ranks);
}

static void compile_and_evaluate(bugs_run_t *run) {
  const json_t *errors = json_object_get(run->json, "errors");
  bool ok = compile(run);
  check_keys(run);
  if (errors != NULL) {
    if (ok) {
      bugs_fail(run, "compiles, and should not");
    }
    check_messages(run, errors, TSPEC_SEVERITY_ERROR);
    return;
  }
  const char *entry = json_string_value(json_object_get(run->json, "entry"));
  run->func = ok && entry != NULL ? tspec_program_find_func(run->local, entry) : NULL;
  if (run->func == NULL) {
    bugs_fail(run, "is not compiled");
    for (size_t m = 0; m < run->diag.count; ++m) {
      tspec_message_print(&run->sources, &run->diag.messages[m], stderr);
    }
    return;
  }
  if (run->reported) {
    check_messages(run, json_object_get(run->json, "warnings"), TSPEC_SEVERITY_WARNING);
  }
  check_names(run);
  evaluate(run);
}

int bugs_run(const char *id, const char *file, const json_t *json, const char *mesh,
             bool reported) {
  bugs_run_t run = {.id = id, .file = file, .json = json, .mesh = mesh, .reported = reported};
  tspec_arena_init(&run.arena);
  tspec_sources_init(&run.sources, &run.arena);
  tspec_diag_init(&run.diag, &run.sources, NULL);
  compile_and_evaluate(&run);
  tspec_arena_deinit(&run.arena);
  return run.nfailed;
}
