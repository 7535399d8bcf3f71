// Runs the conformance corpus: cases FILE.jsonl [--kind K] [--id ID] [--list] [--verbose]
// Exit: 0 all passed (or skipped), 1 some failed, 2 usage, 3 the file is not readable.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"

typedef struct options_t {
  const char *file;
  const char *kind;
  const char *id;
  bool list;
  bool verbose;
} options_t;

typedef struct runner_t {
  const char *kind;
  verdict_t (*run)(case_t *c);
} runner_t;

static const runner_t runners[] = {
    {"rule", case_run_rule},
    {"propagate", case_run_propagate},
    {"reshard", case_run_reshard},
    {"fuse", case_run_fuse},
    {"insert_reshards", case_run_insert_reshards},
};

static bool parse_options(int argc, char **argv, options_t *out_options) {
  *out_options = (options_t){0};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--list") == 0) {
      out_options->list = true;
    } else if (strcmp(argv[i], "--verbose") == 0) {
      out_options->verbose = true;
    } else if (strcmp(argv[i], "--kind") == 0 && i + 1 < argc) {
      out_options->kind = argv[++i];
    } else if (strcmp(argv[i], "--id") == 0 && i + 1 < argc) {
      out_options->id = argv[++i];
    } else if (argv[i][0] != '-' && out_options->file == NULL) {
      out_options->file = argv[i];
    } else {
      return false;
    }
  }
  return out_options->file != NULL;
}

static verdict_t run_case(json_t *json, const options_t *options) {
  const char *kind = case_text(json, "kind");
  const char *id = case_text(json, "id");
  verdict_t verdict = VERDICT_SKIPPED;
  tspec_arena_t arena;
  tspec_arena_init(&arena);
  tspec_buf_t complaint = {0};
  case_t c;
  case_init(&c, &arena, json, &complaint);
  for (size_t i = 0; i < sizeof runners / sizeof *runners; i++) {
    if (strcmp(runners[i].kind, kind) == 0) {
      verdict = runners[i].run(&c);
    }
  }
  static const char *const names[] = {"passed", "FAILED", "skipped"};
  if (verdict == VERDICT_FAILED || options->verbose) {
    printf("%s: %s\n%s", names[verdict], id, tspec_buf_get(&complaint));
  }
  tspec_buf_deinit(&complaint);
  tspec_arena_deinit(&arena);
  return verdict;
}

static bool is_selected(json_t *json, const options_t *options) {
  return (options->kind == NULL || strcmp(options->kind, case_text(json, "kind")) == 0) &&
         (options->id == NULL || strcmp(options->id, case_text(json, "id")) == 0);
}

/// Counts verdicts. Errors: false after a message.
static bool run_file(FILE *file, const options_t *options, int counts[3]) {
  char *line = NULL;
  size_t capacity = 0;
  bool good = true;
  for (int number = 1; good && getline(&line, &capacity, file) >= 0; number++) {
    json_error_t error;
    json_t *json = json_loads(line, 0, &error);
    if (json == NULL) {
      fprintf(stderr, "cases: %s:%d: %s\n", options->file, number, error.text);
      good = false;
    } else if (is_selected(json, options)) {
      if (options->list) {
        printf("%s %s\n", case_text(json, "kind"), case_text(json, "id"));
      } else {
        counts[run_case(json, options)]++;
      }
    }
    json_decref(json);
  }
  free(line);
  return good;
}

int main(int argc, char **argv) {
  options_t options;
  if (!parse_options(argc, argv, &options)) {
    fprintf(stderr, "usage: cases FILE.jsonl [--kind K] [--id ID] [--list] [--verbose]\n");
    return 2;
  }
  FILE *file = fopen(options.file, "r");
  if (file == NULL) {
    perror(options.file);
    return 3;
  }
  int counts[3] = {0};
  bool good = run_file(file, &options, counts);
  fclose(file);
  if (!options.list) {
    printf("%d passed, %d failed", counts[VERDICT_PASSED], counts[VERDICT_FAILED]);
    printf(counts[VERDICT_SKIPPED] > 0 ? ", %d skipped\n" : "\n", counts[VERDICT_SKIPPED]);
  }
  return !good ? 3 : (counts[VERDICT_FAILED] > 0 ? 1 : 0);
}
