// comm FILE.jsonl [--known FILE] [--predict FILE] [--id ID] [--no-run] [--verbose]
//
// The bytes that compiled programs send, next to what JAX sends and the least known. Each line of
// FILE.jsonl is a JSON object {"id", "file" (beside FILE.jsonl), "entry", "args", "jax_bytes",
// "plain_bytes" or "least_bytes", ..}. A row passes if what the compiler predicts is what the
// evaluator counts, and no more than JAX's. --known names rows that are known to be above JAX, one
// "ID BYTES" a line: these pass up to those bytes, and the report says where they got better.
// --predict names rows, one "ID" a line, that are too big for the evaluator: what is predicted is
// compared with JAX's, and not counted. --no-run does that to all rows.
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
  const char *predict;
  const char *id;
  bool no_run;
  bool verbose;
} options_t;

typedef struct tally_t {
  int passed;
  int failed;
  int skipped;
  int unrun;  ///< of those that compile: predicted, not counted
  int at_aim; ///< rows that send no more than the least known by ordinary rules
} tally_t;

typedef struct bench_t {
  options_t options;
  tspec_arena_t arena;
  const char *folder;
  tspec_names_t known;   ///< int64_t bytes by id
  tspec_names_t predict; ///< ids
  tspec_names_t rows;    ///< ids of all rows
  tspec_names_t met;     ///< ids of rows that compile
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
    } else if (strcmp(argv[i], "--predict") == 0 && i + 1 < argc) {
      out->predict = argv[++i];
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

/// Lines "ID BYTES" or "ID" as values (int64_t, 0 without one) by id; '#' begins a comment.
static bool read_ids(bench_t *bench, const char *path, bool has_bytes, tspec_names_t *out_ids) {
  FILE *file = path == NULL ? NULL : fopen(path, "r");
  if (path != NULL && file == NULL) {
    perror(path);
    return false;
  }
  char line[1024];
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char id[256];
    int64_t *bytes = TSPEC_ARENA_NEW(&bench->arena, int64_t, 1);
    int nread = sscanf(line, "%255s %" SCNd64, id, bytes);
    if (line[0] != '#' && nread >= (has_bytes ? 2 : 1)) {
      tspec_names_set(&bench->arena, out_ids, tspec_arena_strdup(&bench->arena, id, strlen(id)),
                      bytes);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return true;
}

// ---- one row ------------------------------------------------------------------------------------

/// Prints what a row came to. False if it fails.
static bool judge(bench_t *bench, const comm_row_t *row, int64_t ours, bool ran) {
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
  printf("%-36s %12" PRId64 " %12" PRId64 " %12" PRId64 " %8s  %s%s\n", row->id, ours,
         row->jax_bytes, row->aim_bytes, ratio, ran ? "" : "(not run) ", verdict);
  return ok;
}

static void run_row(bench_t *bench, const comm_row_t *row) {
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  comm_bytes_t bytes;
  bool run = !bench->options.no_run && tspec_names_get(&bench->predict, row->id) == NULL;
  comm_outcome_t outcome = comm_measure(row, run, &arena, &bytes);
  if (outcome == COMM_SKIPPED) {
    bench->tally.skipped++;
    tspec_buf_printf(&bench->skipped, "skipped %s: %s\n", row->id, bytes.why);
  } else {
    bool ok = outcome == COMM_DONE;
    bench->tally.unrun += ok && !run;
    tspec_names_set(&bench->arena, &bench->met, row->id, bench);
    if (!ok) {
      printf("%-36s FAILED: %s (predicted %" PRId64 ", counted %" PRId64 ")\n", row->id, bytes.why,
             bytes.predicted, bytes.counted);
    } else {
      ok = judge(bench, row, bytes.predicted, run);
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
      tspec_names_set(&bench->arena, &bench->rows, row.id, bench);
      run_row(bench, &row);
    }
    json_decref(json);
  }
  (void)fclose(file);
  return ok;
}

/// Ids of a list that are not among `rows`: left over, or misspelt.
static void check_ids(bench_t *bench, const tspec_names_t *ids, const tspec_names_t *rows,
                      const char *why) {
  for (size_t i = 0; bench->options.id == NULL && i < ids->count; ++i) {
    const char *id = ids->entries[i].name;
    if (tspec_names_get(rows, id) == NULL) {
      printf("%-36s FAILED: %s\n", id, why);
      bench->tally.failed++;
    }
  }
}

static void report(const bench_t *bench) {
  tally_t tally = bench->tally;
  fputs(tspec_buf_get(&bench->skipped), stdout);
  printf("%d skipped; of %d that compile, %d send no more than the aim, %d were not run\n",
         tally.skipped, tally.passed + tally.failed, tally.at_aim, tally.unrun);
  printf("%d passed, %d failed\n", tally.passed, tally.failed);
}

int main(int argc, char **argv) {
  static bench_t bench;
  if (!parse_options(argc, argv, &bench.options)) {
    fprintf(stderr, "usage: comm FILE.jsonl [--known FILE] [--predict FILE] [--id ID] [--no-run] "
                    "[--verbose]\n");
    return 2;
  }
  tspec_arena_init(&bench.arena);
  const char *slash = strrchr(bench.options.file, '/');
  bench.folder = tspec_arena_strdup(&bench.arena, bench.options.file,
                                    slash == NULL ? 0 : (size_t)(slash - bench.options.file) + 1);
  bool ok = read_ids(&bench, bench.options.known, true, &bench.known) &&
            read_ids(&bench, bench.options.predict, false, &bench.predict);
  if (ok) {
    printf("%-36s %12s %12s %12s %8s\n", "bytes sent per call", "ours", "JAX", "aim", "ratio");
    ok = run_rows(&bench);
    check_ids(&bench, &bench.known, &bench.met, "on the list of known rows, but does not compile");
    check_ids(&bench, &bench.predict, &bench.rows, "to be predicted, but no row has this id");
    report(&bench);
  }
  tspec_buf_deinit(&bench.skipped);
  bool passed = bench.tally.failed == 0;
  tspec_arena_deinit(&bench.arena);
  return !ok ? 3 : passed ? 0 : 1;
}
