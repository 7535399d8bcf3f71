// property FILE.tspec ..   programs that were found once: the same checks, on whole numbers
// property [--seed S] [--count N] [--ops K] [--ranks R] [--ints | --floats] [--ref DIR] [--verbose]
//          [--failures N] [--print] [--survey] [--whole] [--native N --tspecc TSPECC --work DIR]
//
// --survey: counts what the programs hold, and fails if there is something that none of them has.
//
// --native N --tspecc TSPECC --work DIR: one in N programs is compiled and run over MPI, too, if
// its mesh has at most 8 ranks (the environment must let MPI start that many).
//
// Random programs through the whole compiler, compared with what they mean: see check.c. Programs
// S .. S + N - 1 are made; the even ones of whole numbers, the odd ones of fractions. A failing one
// is made smaller and printed. The last line counts.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/diag.h"
#include "tests/property/check.h"
#include "tests/property/generate.h"
#include "tests/property/shrink.h"
#include "tests/property/survey.h"

typedef struct command_t {
  uint64_t seed;
  int count;
  int nops;
  int nranks;
  int ints; ///< 1: only whole numbers, 0: only fractions, -1: both
  int most_failures;
  int native; ///< one in so many programs runs natively, too
  bool verbose;
  bool print;  ///< print programs instead of checking them
  bool survey; ///< count what they hold instead
  bool whole;  ///< failing programs are printed as they are
  prop_check_options_t check;
} command_t;

/// What the process that checks tells the one that watches.
typedef struct board_t {
  int at;      ///< the program that is being checked
  int nnative; ///< how many ran natively on several ranks
  bool failed; ///< `outcome` says how; the process has ended
  prop_outcome_t outcome;
} board_t;

static board_t *board;

static void generate(const command_t *command, int index, prop_program_t *program) {
  prop_generate_options_t options = {.nops = command->nops, .nranks = command->nranks};
  options.rounds = command->check.ref != NULL;
  options.divides = command->check.ref != NULL;
  uint64_t seed = command->seed + (uint64_t)index;
  options.ints = command->ints < 0 ? seed % 2 == 0 : command->ints == 1;
  prop_generate(seed, &options, program);
}

static prop_check_options_t options_for(const command_t *command, const prop_program_t *program) {
  enum { MOST_RANKS = 8 };
  prop_check_options_t options = command->check;
  // one of whole numbers, then one of fractions
  bool native = command->native > 0 && program->seed / 2 % (uint64_t)command->native == 0 &&
                prop_program_nranks(program) <= MOST_RANKS;
  options.tspecc = native ? options.tspecc : NULL;
  return options;
}

static void print_program(const prop_program_t *program, FILE *stream) {
  tspec_buf_t text = {0};
  prop_program_print(program, &text);
  fputs(tspec_buf_get(&text), stream);
  tspec_buf_deinit(&text);
}

static void note_check(const char *message) {
  prop_fail(&board->outcome, "internal error", "%s", message);
  board->failed = true;
}

// Checks programs from `first` on, until one fails.
static _Noreturn void work(const command_t *command, int first) {
  enum { SECONDS = 60, NATIVE_SECONDS = 400 };
  static prop_program_t program;
  tspec_check_handler_set(note_check);
  freopen("/dev/null", "w", stderr);
  for (int i = first; i < command->count; ++i) {
    board->at = i;
    board->outcome = (prop_outcome_t){.ok = true};
    alarm(command->native > 0 ? NATIVE_SECONDS : SECONDS);
    generate(command, i, &program);
    prop_check_options_t options = options_for(command, &program);
    prop_check(&program, &options, &board->outcome);
    board->nnative += options.tspecc != NULL && prop_program_nranks(&program) > 1;
    if (!board->outcome.ok) {
      board->failed = true;
      _exit(1);
    }
  }
  board->at = command->count;
  exit(0);
}

static void report(const command_t *command, int index) {
  static prop_program_t program;
  generate(command, index, &program);
  prop_outcome_t outcome = board->outcome, again;
  printf("FAILED seed %llu: %s\n", (unsigned long long)program.seed, outcome.kind);
  fflush(stdout);
  prop_check_options_t options = options_for(command, &program);
  prop_check_apart(&program, &options, &again);
  if (again.ok) {
    printf("  (not when checked alone)\n");
  } else if (!command->whole) {
    outcome = again;
    prop_shrink(&program, &options, &outcome);
  }
  printf("  %s\n", outcome.detail);
  print_program(&program, stdout);
  printf("---- %d ops, %d ranks, %s\n", prop_program_nops(&program), prop_program_nranks(&program),
         program.ints ? "ints" : "floats");
  fflush(stdout);
}

static int run(const command_t *command) {
  int nfailed = 0;
  for (int first = 0; first < command->count && nfailed < command->most_failures;) {
    board->failed = false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
      work(command, first);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (board->at == command->count && status == 0) {
      break;
    }
    if (!board->failed) {
      board->outcome = (prop_outcome_t){.ok = true};
      prop_fail(&board->outcome, "crash", "%s",
                WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit status");
    }
    ++nfailed;
    report(command, board->at);
    first = board->at + 1;
  }
  return nfailed;
}

// Programs from files.
static int replay(int nfiles, char **files) {
  int nfailed = 0;
  for (int i = 0; i < nfiles; ++i) {
    FILE *file = fopen(files[i], "rb");
    static char text[1 << 16];
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    prop_outcome_t outcome = {.ok = true};
    prop_fail(&outcome, "file", "cannot be read");
    if (file != NULL) {
      fclose(file);
      prop_check_text(text, &outcome);
    }
    if (!outcome.ok) {
      printf("FAILED %s: %s\n", files[i], outcome.detail);
      ++nfailed;
    }
  }
  printf("%d passed, %d failed\n", nfiles - nfailed, nfailed);
  return nfailed > 0;
}

static bool take_flag(command_t *command, const char *option) {
  if (strcmp(option, "--ints") == 0 || strcmp(option, "--floats") == 0) {
    command->ints = option[2] == 'i';
    return true;
  }
  const struct {
    const char *name;
    bool *place;
  } flags[] = {
      {"--verbose", &command->verbose},
      {"--print", &command->print},
      {"--survey", &command->survey},
      {"--whole", &command->whole},
  };
  for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i) {
    if (strcmp(option, flags[i].name) == 0) {
      return *flags[i].place = true;
    }
  }
  return false;
}

static bool take_value(command_t *command, const char *option, const char *value) {
  const struct {
    const char *name;
    int *number;
    const char **text;
  } options[] = {
      {"--count", &command->count, NULL},     {"--ops", &command->nops, NULL},
      {"--ranks", &command->nranks, NULL},    {"--failures", &command->most_failures, NULL},
      {"--native", &command->native, NULL},   {"--tspecc", NULL, &command->check.tspecc},
      {"--work", NULL, &command->check.work}, {"--ref", NULL, &command->check.ref},
  };
  if (strcmp(option, "--seed") == 0) {
    command->seed = strtoull(value, NULL, 10);
    return true;
  }
  for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
    if (strcmp(option, options[i].name) == 0 && options[i].number != NULL) {
      *options[i].number = (int)strtol(value, NULL, 10);
      return true;
    }
    if (strcmp(option, options[i].name) == 0) {
      *options[i].text = value;
      return true;
    }
  }
  return false;
}

static bool parse_command(int argc, char **argv, command_t *command) {
  for (int i = 1; i < argc; ++i) {
    if (!take_flag(command, argv[i])) {
      if (i + 1 == argc || !take_value(command, argv[i], argv[i + 1])) {
        return false;
      }
      ++i;
    }
  }
  return command->check.tspecc == NULL || command->check.work != NULL;
}

static void print_programs(const command_t *command) {
  for (int i = 0; i < command->count; ++i) {
    static prop_program_t program;
    generate(command, i, &program);
    printf("// seed %llu\n", (unsigned long long)program.seed);
    print_program(&program, stdout);
  }
}

static int take_survey(const command_t *command) {
  static prop_survey_t survey;
  int nfailed = 0;
  for (int i = 0; i < command->count; ++i) {
    static prop_program_t program;
    generate(command, i, &program);
    nfailed += !prop_survey_add(&survey, &program);
  }
  printf("%d do not compile\n", nfailed);
  return prop_survey_print(&survey, stdout) + nfailed > 0;
}

static int check_programs(const command_t *command) {
  board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  printf("seeds %llu .. %llu\n", (unsigned long long)command->seed,
         (unsigned long long)command->seed + (unsigned long long)command->count - 1);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  int nfailed = run(command);
  int ndone = nfailed == command->most_failures ? board->at + 1 : command->count;
  clock_gettime(CLOCK_MONOTONIC, &end);
  double seconds =
      (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  if (command->verbose) {
    printf("%.1f programs per second\n", ndone / seconds);
    printf("%d on 2 to 8 ranks run natively\n", board->nnative);
  }
  printf("%d passed, %d failed\n", ndone - nfailed, nfailed);
  return nfailed > 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && argv[1][0] != '-') {
    return replay(argc - 1, argv + 1);
  }
  command_t command = {.seed = 1, .count = 100, .ints = -1, .most_failures = 10};
  if (!parse_command(argc, argv, &command)) {
    fprintf(stderr, "usage: property [--seed S] [--count N] [--ops K] [--ranks R] [--ints | "
                    "--floats] [--ref DIR] [--native N --tspecc TSPECC --work DIR] [--failures N] "
                    "[--print] [--survey] [--whole] [--verbose]\n");
    return 2;
  }
  if (command.print) {
    print_programs(&command);
    return 0;
  }
  return command.survey ? take_survey(&command) : check_programs(&command);
}
