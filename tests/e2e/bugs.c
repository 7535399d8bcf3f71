// bugs BUGS.jsonl --programs DIR [--id ID] [--list]
//
// Each line of BUGS.jsonl is a JSON object about one reported bug: "id", "report", "about", and
// - "runs": programs to run, each with "entry" (in DIR/ID.tspec, or DIR/"file"), "mesh" (the
//   report's, "x=2,y=4") and what must hold (bugs.h): "inputs", "results", "sums", "begins",
//   "within"; on the report's mesh also "blocks", "shardings", "bytes" (enough of them). A run with
//   "errors" must be refused with these texts; "warnings" are said under --lint. "known": {"bytes",
//   "shardings", "why"} where what is sent or held is known to be more: it may not get worse, and
//   has to be taken off when it is mended.
// - "later": what of the report is not run yet, and why.
// A run is made on the report's mesh and on every mesh with axes as long or shorter.
// --list prints what is left to later and what is known, and fails if a row has neither runs nor a
// reason. Exit: 0 all holds, 1 something failed, 2 usage or files.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/str.h"
#include "tests/e2e/bugs.h"

typedef struct command_t {
  const char *file;
  const char *programs;
  const char *id;
  bool list;
  int nrows;
  int nfailed;
  tspec_arena_t arena;
  tspec_names_t seen;
} command_t;

static bool parse_command(int argc, char **argv, command_t *out) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--list") == 0) {
      out->list = true;
    } else if (strcmp(argv[i], "--id") == 0 && i + 1 < argc) {
      out->id = argv[++i];
    } else if (strcmp(argv[i], "--programs") == 0 && i + 1 < argc) {
      out->programs = argv[++i];
    } else if (argv[i][0] != '-' && out->file == NULL) {
      out->file = argv[i];
    } else {
      return false;
    }
  }
  return out->file != NULL && out->programs != NULL;
}

static const char *text_of(const json_t *json, const char *key) {
  return json_string_value(json_object_get(json, key));
}

// ---- meshes ----

enum { MAX_AXES = 4 };

typedef struct axes_t {
  int count;
  const char *names[MAX_AXES];
  int64_t sizes[MAX_AXES];
} axes_t;

// "x=2,y=4"
static bool read_axes(command_t *command, const char *text, axes_t *out) {
  char *copy = tspec_arena_strdup(&command->arena, text, strlen(text)), *rest = NULL;
  for (char *axis = strtok_r(copy, ",", &rest); axis != NULL; axis = strtok_r(NULL, ",", &rest)) {
    char *equals = strchr(axis, '=');
    if (equals == NULL || out->count == MAX_AXES) {
      return false;
    }
    *equals = '\0';
    out->names[out->count] = axis;
    out->sizes[out->count++] = strtoll(equals + 1, NULL, 10);
  }
  return out->count > 0;
}

static const char *print_axes(command_t *command, const axes_t *axes) {
  const char *text = "";
  for (int i = 0; i < axes->count; ++i) {
    text = tspec_arena_printf(&command->arena, "%s%s%s=%lld", text, i == 0 ? "" : ",",
                              axes->names[i], (long long)axes->sizes[i]);
  }
  return text;
}

// The next smaller mesh. False after the one of a single rank.
static bool shrink(axes_t *axes, const axes_t *largest) {
  for (int i = axes->count - 1; i >= 0; --i) {
    if (axes->sizes[i] > 1) {
      --axes->sizes[i];
      return true;
    }
    axes->sizes[i] = largest->sizes[i];
  }
  return false;
}

// ---- rows ----

static void run_on_meshes(command_t *command, const char *id, const json_t *run) {
  const char *name = text_of(run, "file"), *mesh = text_of(run, "mesh");
  const char *file =
      name != NULL ? tspec_arena_printf(&command->arena, "%s/%s", command->programs, name)
                   : tspec_arena_printf(&command->arena, "%s/%s.tspec", command->programs, id);
  axes_t largest = {0};
  if (json_object_get(run, "errors") != NULL) {
    command->nfailed += bugs_run(id, file, run, mesh, true);
    return;
  }
  if (mesh == NULL || !read_axes(command, mesh, &largest)) {
    fprintf(stderr, "FAILED %s: a run without \"mesh\"\n", id);
    ++command->nfailed;
    return;
  }
  axes_t axes = largest;
  bool reported = true;
  do {
    command->nfailed += bugs_run(id, file, run, print_axes(command, &axes), reported);
    reported = false;
  } while (shrink(&axes, &largest));
}

static void list_row(const char *id, const json_t *runs, const char *later) {
  if (later != NULL) {
    printf("%s %s: %s\n", id, json_array_size(runs) > 0 ? "in part" : "later", later);
  }
  for (size_t i = 0; i < json_array_size(runs); ++i) {
    const json_t *run = json_array_get(runs, i), *known = json_object_get(run, "known");
    if (known != NULL) {
      printf("%s %s known: %s\n", id, text_of(run, "entry"), text_of(known, "why"));
    }
  }
}

static void take_row(command_t *command, const json_t *row) {
  const char *id = text_of(row, "id"), *later = text_of(row, "later");
  const json_t *runs = json_object_get(row, "runs");
  if (id == NULL || text_of(row, "about") == NULL || tspec_names_get(&command->seen, id) != NULL ||
      (json_array_size(runs) == 0 && later == NULL)) {
    fprintf(stderr,
            "FAILED line %d: needs an id of its own, \"about\", and \"runs\" or \"later\"\n",
            command->nrows);
    ++command->nfailed;
    return;
  }
  tspec_names_set(&command->arena, &command->seen,
                  tspec_arena_strdup(&command->arena, id, strlen(id)), command);
  if (command->list) {
    list_row(id, runs, later);
  }
  if (command->list || (command->id != NULL && strcmp(command->id, id) != 0)) {
    return;
  }
  for (size_t i = 0; i < json_array_size(runs); ++i) {
    run_on_meshes(command, id, json_array_get(runs, i));
  }
}

static bool take_file(command_t *command) {
  FILE *file = fopen(command->file, "r");
  if (file == NULL) {
    perror(command->file);
    return false;
  }
  char *line = NULL;
  size_t room = 0;
  bool ok = true;
  while (ok && getline(&line, &room, file) >= 0) {
    json_error_t error;
    json_t *row = json_loads(line, 0, &error);
    ++command->nrows;
    ok = row != NULL;
    if (ok) {
      take_row(command, row);
    } else {
      fprintf(stderr, "%s:%d: %s\n", command->file, command->nrows, error.text);
    }
    json_decref(row);
  }
  free(line);
  (void)fclose(file);
  return ok;
}

int main(int argc, char **argv) {
  command_t command = {0};
  if (!parse_command(argc, argv, &command)) {
    fprintf(stderr, "usage: bugs BUGS.jsonl --programs DIR [--id ID] [--list]\n");
    return 2;
  }
  tspec_arena_init(&command.arena);
  bool ok = take_file(&command);
  if (ok && command.id != NULL && tspec_names_get(&command.seen, command.id) == NULL) {
    fprintf(stderr, "FAILED: no row '%s'\n", command.id);
    ++command.nfailed;
  }
  tspec_arena_deinit(&command.arena);
  return !ok ? 2 : command.nfailed == 0 ? 0 : 1;
}
