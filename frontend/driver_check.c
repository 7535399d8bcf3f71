// --check: what the ranks compute together against one.
#include "frontend/driver.h"
#include "ir/eval/check.h"

static bool check_entry(tspec_driver_t *driver, const char *entry) {
  tspec_check_ranks_options_t options = {.entry = entry};
  tspec_check_report_t report = {0};
  bool ok = tspec_check_ranks(driver->whole, driver->program, &options, driver->arena,
                              &driver->diag, &report);
  for (int i = 0; i < report.nrows; i++) {
    const tspec_check_row_t *row = &report.rows[i];
    printf("%s: %s %s %s: largest difference %.3g, allowed %.3g\n", row->ok ? "same" : "differs",
           row->entry, row->name, tspec_type_print(driver->arena, row->type), row->difference,
           row->allowed);
  }
  return ok;
}

bool tspec_driver_check(tspec_driver_t *driver) {
  if (driver->whole == NULL) {
    tspec_diag_error(&driver->diag, (tspec_range_t){0},
                     "--check wants a program from before 'partition'");
    return false;
  }
  bool ok = true;
  for (int i = 0; i < driver->program->nfuncs; i++) {
    ok = check_entry(driver, driver->program->funcs[i]->name) && ok;
  }
  return ok;
}
