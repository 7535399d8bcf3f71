#!/usr/bin/env bash
# Checks of the text: format, sizes, naming and the analyzer. Exit code 1 if anything is found.
#
#   tests/cmake/check.sh [--all] [--build DIR]
#
# clang-tidy runs on the product's files (ir frontend passes runtime) that changed in the last five commits, with --all on
# every one; it needs the compile_commands.json of a build folder (default build). Two of the analyzer's checks are off in
# .clang-tidy, ArrayBound and NullDereference: they take blocks of a computed size for too small and arrays of TSPEC_VEC for null.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=build all=0
while [ $# -gt 0 ]; do
  case "$1" in
    --all) all=1 ;;
    --build) build=$2; shift ;;
    *) echo "check.sh: unknown option $1" >&2; exit 2 ;;
  esac
  shift
done

failed=0
complain() { echo "check: $*" >&2; failed=1; }

sources() { git ls-files '*.c' '*.h'; }

check_format() {
  sources | xargs clang-format-22 --dry-run --Werror || complain "run clang-format-22 -i on the files above"
}

check_sizes() {
  local long
  long=$(sources | xargs awk 'FNR > 900 && !seen[FILENAME]++ { print FILENAME }')
  [ -z "$long" ] || complain "files over 900 lines:" $long
  long=$(git ls-files '*.h' | xargs awk 'FNR > 400 && !seen[FILENAME]++ { print FILENAME }')
  [ -z "$long" ] || complain "headers over 400 lines:" $long
}

# Ops are told apart by tables over ir/ops.def, not by a switch. Four files are columns of that table whose entries are one line of
# arithmetic each, which a switch says best; nothing outside of them may.
check_op_switches() {
  if git grep -n 'case TSPEC_OP_' -- '*.c' '*.h' ':!ir/eval/scalar.c' ':!passes/fold.c' ':!passes/fuse_atoms.c' \
    ':!passes/image.c'; then
    complain "a switch on op kinds; make it a column of a table"
  fi
}

# Dumps and messages hold paths, so what must not appear in them is written with something that no path has beside its word: a
# quote, a blank, a colon, the start of the line.
check_lit_patterns() {
  if git grep -nE '[A-Z]-NOT: +[-A-Za-z0-9_./{}|]+$' -- tests/lit | grep -v '{{\.}}$'; then
    complain "a NOT pattern that a path may match; quote the op, anchor the line"
  fi
}

changed_sources() {
  local product=('ir/*.c' 'frontend/*.c' 'passes/*.c' 'runtime/*.c')
  if [ "$all" -eq 1 ]; then
    git ls-files "${product[@]}"
  else
    git diff --name-only --diff-filter=AM HEAD~5 -- "${product[@]}" |
      while read -r file; do [ -n "$file" ] && [ -f "$file" ] && echo "$file"; done
  fi
}

# Only files that the build compiles have a command line that tidy can use.
check_tidy() {
  local files
  files=$(changed_sources | while read -r file; do
    grep -qF "\"$PWD/$file\"" "$build/compile_commands.json" && echo "$file" || true
  done)
  [ -n "$files" ] || return 0
  clang-tidy-22 --version >/dev/null || complain "clang-tidy-22 does not start"
  echo "$files" | xargs -P 2 -n 4 clang-tidy-22 -p "$build" --quiet 2>/dev/null >"$build/tidy.log" || true
  if grep -E 'error:|warning:' "$build/tidy.log"; then
    complain "clang-tidy-22 found the above"
  fi
}

check_format
check_sizes
check_op_switches
check_lit_patterns
check_tidy
[ "$failed" -eq 0 ] && echo "checks passed"
exit "$failed"
