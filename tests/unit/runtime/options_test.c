#include "runtime/options.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

TestSuite(options, .timeout = 30);

// Parses "a b c", split at blanks.
static tspec_rt_status_t parse(const char *line, tspec_rt_options_t *options,
                               tspec_rt_error_t *error) {
  static char copy[512];
  static char *argv[32];
  static tspec_rt_pool_t pool;
  int argc = 1;
  argv[0] = "program";
  (void)snprintf(copy, sizeof copy, "%s", line);
  for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
    argv[argc++] = word;
  }
  argv[argc] = NULL;
  *error = (tspec_rt_error_t){0};
  return tspec_rt_options_parse(argc, argv, &pool, error, options);
}

Test(options, reads_every_option) {
  tspec_rt_options_t o;
  tspec_rt_error_t error;
  tspec_rt_status_t status =
      parse("step --steps 3 --in x=a.npy --in=y=2 --out z=b.npy --seed 0x10 --load l --save s "
            "--ranks=4 --threads 2 --profile p --counts c --deterministic --quiet",
            &o, &error);
  cr_assert(eq(int, (int)status, (int)TSPEC_RT_OK), "%s", error.text);
  cr_assert(eq(str, (char *)o.entry, "step"));
  cr_assert(eq(i64, o.steps, 3));
  cr_assert(eq(str, (char *)tspec_rt_binding_find(o.ins, o.nins, "x"), "a.npy"));
  cr_assert(eq(str, (char *)tspec_rt_binding_find(o.ins, o.nins, "y"), "2"));
  cr_assert(eq(str, (char *)tspec_rt_binding_find(o.outs, o.nouts, "z"), "b.npy"));
  cr_assert(eq(ptr, (void *)tspec_rt_binding_find(o.ins, o.nins, "z"), NULL));
  cr_assert(eq(u64, o.seed, 16));
  cr_assert(eq(i64, o.ranks, 4));
  cr_assert(eq(i64, o.threads, 2));
  cr_assert(o.deterministic && o.quiet);
  cr_assert(eq(str, (char *)o.load, "l"));
  cr_assert(eq(str, (char *)o.save, "s"));
  cr_assert(eq(str, (char *)o.profile, "p"));
  cr_assert(eq(str, (char *)o.counts, "c"));
}

Test(options, refuses_wrong_use_in_one_line) {
  static const char *const cases[][2] = {
      {"step --steps", "--steps needs a value"},
      {"step --steps 0", "--steps wants a whole number from 1 on, got '0'"},
      {"step --steps 2x", "--steps wants a whole number from 1 on, got '2x'"},
      {"step --seed -1", "--seed wants a whole number from 0 on, got '-1'"},
      {"step --in x", "--in wants NAME=FILE or NAME=NUMBER, got 'x'"},
      {"step --in =x", "--in wants NAME=FILE or NAME=NUMBER, got '=x'"},
      {"step --out x=", "--out wants NAME=FILE, got 'x='"},
      {"step --in x=1 --in x=2", "--in gives 'x' twice"},
      {"step other", "'step' and 'other': one entry at a time"},
      {"step --wrong", "unknown option '--wrong'"},
      {"step --quiet=1", "unknown option '--quiet=1'"},
      {"step -q", "unknown option '-q'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tspec_rt_options_t options;
    tspec_rt_error_t error;
    cr_assert(eq(int, (int)parse(cases[i][0], &options, &error), (int)TSPEC_RT_USAGE), "case %zu",
              i);
    cr_assert(eq(str, error.text, (char *)cases[i][1]), "case %zu", i);
  }
}

Test(options, takes_the_timeout_from_the_environment) {
  tspec_rt_options_t options;
  tspec_rt_error_t error;
  cr_assert(parse("step", &options, &error) == TSPEC_RT_OK);
  cr_assert(eq(dbl, options.timeout_seconds, 300));
  (void)setenv("TSPEC_TIMEOUT", "2.5", 1);
  cr_assert(parse("step", &options, &error) == TSPEC_RT_OK);
  cr_assert(eq(dbl, options.timeout_seconds, 2.5));
  (void)setenv("TSPEC_TIMEOUT", "soon", 1);
  cr_assert(parse("step", &options, &error) == TSPEC_RT_USAGE);
}
