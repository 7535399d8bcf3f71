#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/str.h"
#include "passes/collectives.h"
#include "tests/e2e/agree.h"
#include "tests/support/files.h"

static bool run_command(agree_t *agree, const tspec_buf_t *command) {
  int status = system(tspec_buf_get(command));
  if (status != 0) {
    agree_fail(agree, "exit status %d of: %s", status, tspec_buf_get(command));
  }
  return status == 0;
}

static bool compile(agree_t *agree) {
  tspec_buf_t command = {0};
  tspec_buf_printf(&command, "%s %s -o %s/program", agree->tspecc, agree->source, agree->work);
  if (agree->mesh != NULL) {
    tspec_buf_printf(&command, " --mesh %s", agree->mesh);
  }
  if (agree->cpu != NULL) {
    tspec_buf_printf(&command, " --cpu=%s", agree->cpu);
  }
  for (size_t i = 0; i < agree->nsets; ++i) {
    tspec_buf_printf(&command, " --set %s", agree->sets[i]);
  }
  bool ok = run_command(agree, &command);
  tspec_buf_deinit(&command);
  return ok;
}

static bool run_native(agree_t *agree) {
  tspec_buf_t command = {0};
  tspec_buf_printf(&command, "timeout 100 %s/program %s --quiet --seed %llu --counts %s",
                   agree->work, agree->func->name, (unsigned long long)agree->seed,
                   agree_file(agree, "counts", ".json"));
  for (int i = 0; i < agree->func->nargs; ++i) {
    if (agree->inputs[i] != NULL) {
      const char *name = agree->func->args[i].name;
      tspec_buf_printf(&command, " --in %s=%s", name, agree_file(agree, name, ".npy"));
    }
  }
  for (int i = 0; i < agree->func->nresults; ++i) {
    const char *name = agree->func->results[i].name;
    tspec_buf_printf(&command, " --out %s=%s", name, agree_file(agree, name, ".out.npy"));
  }
  if (agree->golden != NULL) {
    tspec_buf_printf(&command, " --load %s", agree_file(agree, "params", ".safetensors"));
  }
  if (agree->steps != NULL) {
    tspec_buf_printf(&command, " --steps %s --profile %s", agree->steps,
                     agree_file(agree, "profile", ".json"));
  }
  tspec_buf_puts(&command, " </dev/null");
  bool ok = run_command(agree, &command);
  tspec_buf_deinit(&command);
  return ok;
}

// A run of many steps is there to compare the products of the library.
static void check_library_is_used(agree_t *agree) {
  json_error_t error;
  json_t *events = json_load_file(agree_file(agree, "profile", ".json"), 0, &error);
  size_t products = 0;
  for (size_t i = 0; i < json_array_size(events); ++i) {
    json_t *args = json_object_get(json_array_get(events, i), "args");
    const char *by = json_string_value(json_object_get(args, "by"));
    products += by != NULL && strncmp(by, "builtin", strlen("builtin")) != 0;
  }
  if (products == 0) {
    agree_fail(agree, "no product by the library in %s steps", agree->steps);
  }
  json_decref(events);
}

static void compare_results(agree_t *agree, tspec_eval_t *whole) {
  for (int i = 0; i < agree->func->nresults; ++i) {
    const tspec_result_t *result = &agree->func->results[i];
    tspec_dense_t *got =
        tspec_files_read_npy(agree_file(agree, result->name, ".out.npy"), result->value->type);
    tspec_dense_t *want = tspec_eval_result(whole, result->name);
    agree_compare(agree, "native against one rank, evaluated", result->name, want, got);
    if (agree->golden != NULL && got != NULL) {
      agree_compare_golden(agree, result->name, got);
    }
    tspec_dense_destroy(got);
    tspec_dense_destroy(want);
  }
}

// Predicted by the compiler, counted by the evaluator, counted by the runtime: one number per
// collective.
static void compare_bytes(agree_t *agree, tspec_eval_t *ranks) {
  json_error_t error;
  json_t *counts = json_load_file(agree_file(agree, "counts", ".json"), 0, &error);
  json_t *rows = json_object_get(counts, "collectives");
  const tspec_func_t *func = tspec_program_find_func(agree->local, agree->func->name);
  tspec_collective_use_t *uses = NULL;
  int nuses = tspec_func_collectives(agree->local, func, &agree->arena, &uses);
  int64_t ntraffic = 0;
  const tspec_eval_traffic_t *traffic = tspec_eval_traffic(ranks, &ntraffic);
  if ((int64_t)nuses != ntraffic || (size_t)nuses != json_array_size(rows)) {
    agree_fail(agree, "%d collectives predicted, %lld evaluated, %zu run", nuses,
               (long long)ntraffic, json_array_size(rows));
    nuses = 0;
  }
  for (int i = 0; i < nuses; ++i) {
    int64_t run = json_integer_value(json_object_get(json_array_get(rows, (size_t)i), "bytes"));
    if (uses[i].bytes != traffic[i].bytes || uses[i].bytes != run) {
      agree_fail(agree, "collective %d: %lld bytes predicted, %lld evaluated, %lld run", i,
                 (long long)uses[i].bytes, (long long)traffic[i].bytes, (long long)run);
    }
  }
  json_decref(counts);
}

void agree_native(agree_t *agree, tspec_eval_t *whole, tspec_eval_t *ranks) {
  if (compile(agree) && run_native(agree)) {
    compare_results(agree, whole);
    compare_bytes(agree, ranks);
    if (agree->steps != NULL) {
      check_library_is_used(agree);
    }
  }
}
