// comm FILE.jsonl [--known FILE] [--id ID] [--no-run] [--verbose]
//
// The bytes that compiled programs send, next to what JAX sends and the least known. Each line of
// FILE.jsonl is a JSON object {"id", "file" (beside FILE.jsonl), "entry", "args", "jax_bytes",
// "plain_bytes" or "least_bytes", ..}. A row passes if what the compiler predicts is what the
// evaluator counts, and no more than JAX's. --known names rows that are known to be above JAX, one
// "ID BYTES" a line: these pass up to those bytes, and the report says where they got better.
// Exit: 0 all passed or were skipped, 1 some failed, 2 usage, 3 a file is not readable.
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/comm.h"
#include "ir/base/str.h"

typedef struct options_t {
  const char *file;
  const char *known;
  const char *id;
  bool no_run;
  bool verbose;
} options_t;

typedef struct tally_t {
  int passed;
  int failed;
  int skipped;
  int at_aim; ///< rows that ran and send no more than the least known by ordinary rules
} tally_t;

typedef struct bench_t {
  options_t options;
  tspec_arena_t arena;
  const char *folder;
  tspec_names_t known; ///< int64_t bytes by id
  tspec_names_t met;   ///< ids of rows that ran
  tally_t tally;
  tspec_buf_t skipped; ///< lines, printed behind the table
} bench_t;

// ---- reading ------------------------------------------------------------------------------------

static bool parse_options(int argc, char **argv, options_t *out) {
  *out = (options_t){0};
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--no-run") == 0) {
      out->no_run = true;
    } else if (strcmp(argv[i], "--verbose") == 0) {
      out->verbose = true;
    } else if (strcmp(argv[i], "--known") == 0 && i + 1 < argc) {
      out->known = argv[++i];
    } else if (strcmp(argv[i], "--id") == 0 && i + 1 < argc) {
      out->id = argv[++i];
    } else if (argv[i][0] != '-' && out->file == NULL) {
      out->file = argv[i];
    } else {
      return false;
    }
  }
  return out->file != NULL;
}

static const char *in_folder(bench_t *bench, const char *path) {
  return path[0] == '/' ? path : tspec_arena_printf(&bench->arena, "%s%s", bench->folder, path);
}

static const char *text_of(const json_t *json, const char *key) {
  const char *text = json_string_value(json_object_get(json, key));
  return text == NULL ? "" : text;
}

static bool read_args(bench_t *bench, const json_t *args, comm_row_t *row) {
  for (size_t i = 0; i + 1 < json_array_size(args); i += 2) {
    const char *flag = json_string_value(json_array_get(args, i));
    const char *value = json_string_value(json_array_get(args, i + 1));
    if (flag == NULL || value == NULL) {
      return false;
    }
    if (strcmp(flag, "--mesh") == 0) {
      row->mesh = value;
    } else if (strcmp(flag, "--set") == 0 && row->nsets < COMM_MAX_ARGS) {
      row->sets[row->nsets++] = value;
    } else if (strcmp(flag, "--rules") == 0 && row->nrules < COMM_MAX_ARGS) {
      row->rules[row->nrules++] = in_folder(bench, value);
    } else {
      return false;
    }
  }
  return json_array_size(args) % 2 == 0;
}

static bool read_row(bench_t *bench, const json_t *json, comm_row_t *out_row) {
  *out_row = (comm_row_t){.id = text_of(json, "id"),
                          .file = in_folder(bench, text_of(json, "file")),
                          .entry = text_of(json, "entry")};
  const json_t *jax = json_object_get(json, "jax_bytes");
  const json_t *plain = json_object_get(json, "plain_bytes");
  const json_t *least = json_object_get(json, "least_bytes");
  const json_t *aim = json_is_integer(plain) ? plain : least;
  out_row->jax_bytes = json_integer_value(jax);
  out_row->aim_bytes = json_integer_value(aim);
  return json_is_integer(jax) && json_is_integer(aim) && out_row->id[0] != '\0' &&
         read_args(bench, json_object_get(json, "args"), out_row);
}

/// Lines "ID BYTES"; '#' begins a comment.
static bool read_known(bench_t *bench) {
  FILE *file = bench->options.known == NULL ? NULL : fopen(bench->options.known, "r");
  if (bench->options.known != NULL && file == NULL) {
    perror(bench->options.known);
    return false;
  }
  char line[1024];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char id[256];
    int64_t *bytes = TSPEC_ARENA_NEW(&bench->arena, int64_t, 1);
    if (line[0] != '#' && sscanf(line, "%255s %" SCNd64, id, bytes) == 2) {
      tspec_names_set(&bench->arena, &bench->known,
                      tspec_arena_strdup(&bench->arena, id, strlen(id)), bytes);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return true;
}

// ---- one row ------------------------------------------------------------------------------------

/// Prints what a row came to. False if it fails.
static bool judge(bench_t *bench, const comm_row_t *row, int64_t ours) {
  const int64_t *known = tspec_names_get(&bench->known, row->id);
  bool above = ours > row->jax_bytes;
  bool ok = !above || (known != NULL && ours <= *known);
  const char *verdict = !above ? "" : known == NULL ? "FAILED: above JAX" : "above JAX, as known";
  if (known != NULL && ours > *known) {
    verdict = "FAILED: above JAX, and worse than known";
  } else if (known != NULL && !above) {
    verdict = "no longer above JAX: take it off the list of known rows";
  } else if (known != NULL && ours < *known) {
    verdict = "above JAX, but better than known: put the new bytes on the list";
  }
  bench->tally.at_aim += ours <= row->aim_bytes;
  char ratio[32] = "-";
  if (row->aim_bytes > 0) {
    (void)snprintf(ratio, sizeof ratio, "%.3g", (double)ours / (double)row->aim_bytes);
  } else if (ours == 0) {
    (void)snprintf(ratio, sizeof ratio, "1");
  }
  printf("%-36s %12" PRId64 " %12" PRId64 " %12" PRId64 " %8s  %s\n", row->id, ours, row->jax_bytes,
         row->aim_bytes, ratio, verdict);
  return ok;
}

static void run_row(bench_t *bench, const comm_row_t *row) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  comm_bytes_t bytes;
  comm_outcome_t outcome = comm_measure(row, !bench->options.no_run, &arena, &bytes);
  if (outcome == COMM_SKIPPED) {
    bench->tally.skipped++;
    tspec_buf_printf(&bench->skipped, "skipped %s: %s\n", row->id, bytes.why);
  } else {
    bool ok = outcome == COMM_RAN;
    tspec_names_set(&bench->arena, &bench->met, row->id, bench);
    if (!ok) {
      printf("%-36s FAILED: %s (predicted %" PRId64 ", counted %" PRId64 ")\n", row->id, bytes.why,
             bytes.predicted, bytes.counted);
    } else {
      ok = judge(bench, row, bytes.predicted);
      if (bench->options.verbose) {
        fputs(bytes.collectives, stdout);
      }
    }
    bench->tally.passed += ok;
    bench->tally.failed += !ok;
  }
  (void)fflush(stdout);
  tspec_arena_deinit(&arena);
}

/// False if the file cannot be read to its end.
static bool run_rows(bench_t *bench) {
  FILE *file = fopen(bench->options.file, "r");
  if (file == NULL) {
    perror(bench->options.file);
    return false;
  }
  bool ok = true;
  while (ok && !feof(file)) {
    json_error_t error;
    json_t *json = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error);
    comm_row_t row;
    if (json == NULL) {
      ok = json_error_code(&error) == json_error_premature_end_of_input && feof(file);
      if (!ok) {
        fprintf(stderr, "%s: %s\n", bench->options.file, error.text);
      }
    } else if (!read_row(bench, json, &row)) {
      fprintf(stderr, "%s: row '%s' is not understood\n", bench->options.file, text_of(json, "id"));
      ok = false;
    } else if (bench->options.id == NULL || strcmp(bench->options.id, row.id) == 0) {
      row.id = tspec_arena_strdup(&bench->arena, row.id, strlen(row.id));
      run_row(bench, &row);
    }
    json_decref(json);
  }
  (void)fclose(file);
  return ok;
}

/// Known rows that did not run: left over, or misspelt.
static void check_known(bench_t *bench) {
  for (size_t i = 0; bench->options.id == NULL && i < bench->known.count; ++i) {
    const char *id = bench->known.entries[i].name;
    if (tspec_names_get(&bench->met, id) == NULL) {
      printf("%-36s FAILED: on the list of known rows, but did not run\n", id);
      bench->tally.failed++;
    }
  }
}

int main(int argc, char **argv) {
  static bench_t bench;
  if (!parse_options(argc, argv, &bench.options)) {
    fprintf(stderr, "usage: comm FILE.jsonl [--known FILE] [--id ID] [--no-run] [--verbose]\n");
    return 2;
  }
  tspec_arena_init(&bench.arena);
  const char *slash = strrchr(bench.options.file, '/');
  bench.folder = tspec_arena_strdup(&bench.arena, bench.options.file,
                                    slash == NULL ? 0 : (size_t)(slash - bench.options.file) + 1);
  bool ok = read_known(&bench);
  if (ok) {
    printf("%-36s %12s %12s %12s %8s\n", "bytes sent per call", "ours", "JAX", "aim", "ratio");
    ok = run_rows(&bench);
    check_known(&bench);
    fputs(tspec_buf_get(&bench.skipped), stdout);
    tally_t tally = bench.tally;
    printf("%d skipped; of %d that ran, %d send no more than the aim\n", tally.skipped,
           tally.passed + tally.failed, tally.at_aim);
    printf("%d passed, %d failed\n", tally.passed, tally.failed);
  }
  tspec_buf_deinit(&bench.skipped);
  bool passed = bench.tally.failed == 0;
  tspec_arena_deinit(&bench.arena);
  return !ok ? 3 : passed ? 0 : 1;
}
