// tests/data/diagnostics: wrong programs, and all that the compiler says about them. A first line
// "// options: --mesh data=4" gives the command line. With TSPEC_UPDATE set in the environment the
// expected files are written anew; read the difference before it is committed.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/frontend/check_support.h"

enum { MAX_PROGRAMS = 200, MAX_NAME = 80, MAX_OPTIONS = 16 };

typedef struct program_name_t {
  char text[MAX_NAME];
} program_name_t;

static program_name_t names[MAX_PROGRAMS];

static int compare_names(const void *a, const void *b) {
  return strcmp(((const program_name_t *)a)->text, ((const program_name_t *)b)->text);
}

static size_t list_programs(void) {
  size_t count = 0;
  DIR *dir = opendir(TSPEC_TEST_SOURCE_DIR "/data/diagnostics");
  for (struct dirent *item = dir == NULL ? NULL : readdir(dir); item != NULL; item = readdir(dir)) {
    const char *dot = strrchr(item->d_name, '.');
    if (dot != NULL && strcmp(dot, ".tspec") == 0 && count < MAX_PROGRAMS) {
      snprintf(names[count++].text, MAX_NAME, "%.*s", (int)(dot - item->d_name), item->d_name);
    }
  }
  if (dir != NULL) {
    closedir(dir);
  }
  qsort(names, count, sizeof names[0], compare_names);
  return count;
}

/// The words of the options line, cut in place.
typedef struct option_line_t {
  char line[400];
  const char *sets[MAX_OPTIONS], *rules[MAX_OPTIONS], *entries[MAX_OPTIONS];
  tspec_check_options_t options;
} option_line_t;

static void read_options(const char *path, option_line_t *out) {
  static const char kPrefix[] = "// options: ";
  memset(out, 0, sizeof *out);
  out->options.sets = out->sets;
  out->options.rules = out->rules;
  out->options.entries = out->entries;
  FILE *file = fopen(path, "r");
  bool has_line = file != NULL && fgets(out->line, sizeof out->line, file) != NULL;
  if (file != NULL) {
    fclose(file);
  }
  if (!has_line || strncmp(out->line, kPrefix, strlen(kPrefix)) != 0) {
    return;
  }
  strtok(out->line + strlen(kPrefix) - 1, "\n");
  char *word = strtok(out->line + strlen(kPrefix), " \n");
  for (; word != NULL; word = strtok(NULL, " \n")) {
    if (strcmp(word, "--lint") == 0) {
      out->options.lint = true;
      continue;
    }
    const char *value = strtok(NULL, " \n");
    if (strcmp(word, "--set") == 0) {
      out->sets[out->options.nsets++] = value;
    } else if (strcmp(word, "--rules") == 0) {
      out->rules[out->options.nrules++] = value;
    } else if (strcmp(word, "--entry") == 0) {
      out->entries[out->options.nentries++] = value;
    } else if (strcmp(word, "--mesh") == 0) {
      out->options.mesh = value;
    } else if (strcmp(word, "--ranks") == 0) {
      out->options.nranks = atoi(value);
    }
  }
}

static char *read_text(const char *path) {
  FILE *file = fopen(path, "r");
  char *text = NULL;
  size_t capacity = 0;
  if (file == NULL || getdelim(&text, &capacity, '\0', file) < 0) {
    free(text);
    text = strdup("");
  }
  if (file != NULL) {
    fclose(file);
  }
  return text;
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert(ne(ptr, (void *)file, NULL));
  fputs(text, file);
  fclose(file);
}

ParameterizedTestParameters(check_diagnostics, a_wrong_program_gets_its_messages) {
  size_t count = list_programs();
  program_name_t *params = cr_malloc(sizeof *params * (count + 1));
  memcpy(params, names, sizeof *params * count);
  return cr_make_param_array(program_name_t, params, count);
}

ParameterizedTest(program_name_t *name, check_diagnostics, a_wrong_program_gets_its_messages) {
  cr_assert(eq(int, chdir(TSPEC_TEST_SOURCE_DIR "/data/diagnostics"), 0));
  char path[MAX_NAME + 16], wanted_path[MAX_NAME + 16];
  snprintf(path, sizeof path, "%s.tspec", name->text);
  snprintf(wanted_path, sizeof wanted_path, "%s.expected", name->text);
  option_line_t line;
  read_options(path, &line);
  checked_t checked;
  check_file(&checked, path, &line.options);
  const char *got = checked_messages(&checked);
  if (getenv("TSPEC_UPDATE") != NULL) {
    write_text(wanted_path, got);
  }
  char *wanted = read_text(wanted_path);
  cr_expect(eq(str, (char *)(uintptr_t)got, wanted), "%s", name->text);
  cr_expect(gt(sz, checked.diag.count, 0), "%s is not wrong", name->text);
  free(wanted);
  checked_deinit(&checked);
}

Test(check_diagnostics, there_are_enough_wrong_programs) {
  cr_expect(ge(sz, list_programs(), 30));
}
