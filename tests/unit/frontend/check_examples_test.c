// Every program under examples/, and with each rules file that is made for it, is right: what is
// said about it is at most that an entry needs a part of the language that is not compiled.
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/frontend/check_support.h"

#define EXAMPLES TSPEC_TEST_SOURCE_DIR "/../examples/"

enum { MAX_CASES = 300, MAX_PATH = 300 };

/// A program and a rules file, or none.
typedef struct case_t {
  char program[MAX_PATH], rules[MAX_PATH];
} case_t;

static case_t cases[MAX_CASES];
static size_t ncases;

static bool is_rules(const char *path) {
  return strstr(path, ".rules.tspec") != NULL;
}

static void add_case(const char *program, const char *rules) {
  cr_assert(lt(sz, ncases, MAX_CASES));
  snprintf(cases[ncases].program, MAX_PATH, "%s", program);
  snprintf(cases[ncases].rules, MAX_PATH, "%s", rules);
  ++ncases;
}

// "gpt_free.rules.tspec" is for the program "gpt.tspec".
static void add_rules(const char *rules) {
  const char *name = strrchr(rules, '/') + 1;
  char program[MAX_PATH];
  snprintf(program, sizeof program, EXAMPLES "programs/%.*s.tspec", (int)strcspn(name, "_."), name);
  add_case(program, rules);
}

static void add_matching(const char *pattern) {
  glob_t found;
  cr_assert(eq(int, glob(pattern, 0, NULL, &found), 0), "%s", pattern);
  for (size_t i = 0; i < found.gl_pathc; ++i) {
    if (is_rules(found.gl_pathv[i])) {
      add_rules(found.gl_pathv[i]);
    } else {
      add_case(found.gl_pathv[i], "");
    }
  }
  globfree(&found);
}

ParameterizedTestParameters(check_examples, an_example_has_no_errors) {
  add_matching(EXAMPLES "*/*.tspec");
  add_matching(EXAMPLES "*/*/*.tspec");
  case_t *params = cr_malloc(sizeof *params * ncases);
  memcpy(params, cases, sizeof *params * ncases);
  return cr_make_param_array(case_t, params, ncases);
}

ParameterizedTest(case_t *at, check_examples, an_example_has_no_errors) {
  const char *rules[] = {at->rules};
  tspec_check_options_t options = {.nrules = at->rules[0] != '\0', .rules = rules};
  checked_t checked;
  check_file(&checked, at->program, &options);
  bool said = false;
  for (size_t i = 0; i < checked.diag.count; ++i) {
    const tspec_message_t *message = &checked.diag.messages[i];
    bool absent = strstr(message->text, "not available in this version") != NULL;
    said = said || absent;
    cr_expect(message->severity != TSPEC_SEVERITY_ERROR || absent, "%s %s: %s", at->program,
              at->rules, message->text);
  }
  cr_expect(checked.program != NULL || said, "%s", at->program);
  checked_deinit(&checked);
}
