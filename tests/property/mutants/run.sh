#!/bin/sh
# run.sh --source DIR --build DIR [--count N] [NAME ..]
#
# Breaks the compiler on purpose, one patch at a time, and shows that the property test finds it
# within N programs (1000) and makes the program that finds it small. Only the patched files are
# compiled again, in a folder of their own; the rest comes from the libraries of the build. CC and
# CFLAGS are those of that build.
set -u
source= build= count=1000 names=
while [ $# -gt 0 ]; do
  case $1 in
  --source) source=$2; shift 2 ;;
  --build) build=$2; shift 2 ;;
  --count) count=$2; shift 2 ;;
  *) names="$names $1"; shift ;;
  esac
done
[ -d "$source" ] && [ -d "$build" ] || { sed -n 2,7p "$0"; exit 2; }
mutants=$source/tests/property/mutants
[ -n "$names" ] || names=$(cd "$mutants" && ls ./*.patch | sed 's|^\./||; s|\.patch$||')
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# Prints why a mutant could not be tried; else what became of it.
try_mutant() {
  patch=$mutants/$1.patch
  files=$(sed -n 's|^+++ b/||p' "$patch" | cut -f 1)
  dir=$work/$1 objects=
  for file in $files; do
    mkdir -p "$dir/$(dirname "$file")"
    cp "$source/$file" "$dir/$file" || return 2
  done
  patch -s -d "$dir" -p1 -F2 <"$patch" >"$dir/patch.log" 2>&1 || { cat "$dir/patch.log"; echo "$1: the patch does not apply"; return 2; }
  for file in $files; do
    object=$dir/$(echo "$file" | tr / _).o
    ${CC:-gcc} -std=gnu11 -O1 ${CFLAGS:-} -I"$source" -I"$build/generated" -I"$(dirname "$source/$file")" \
      -c "$dir/$file" -o "$object" || return 2
    objects="$objects $object"
  done
  # the mutated objects come first, so that the libraries' own are not taken
  ${CC:-gcc} ${CFLAGS:-} "$build/tests/property/CMakeFiles/property.dir/property.c.o" $objects \
    "$build/tests/property/libtspec_property.a" "$build/frontend/libtspec_frontend.a" \
    "$build/passes/libtspec_passes.a" "$build/ir/libtspec_core.a" -ljansson -lm -o "$dir/property" || return 2
  "$dir/property" --seed 1 --count "$count" --failures 1 >"$dir/log" 2>&1
  seed=$(sed -n 's/^FAILED seed \([0-9]*\): \(.*\)/\1 programs: \2/p' "$dir/log" | head -n 1)
  [ -n "$seed" ] || { echo "$1: NOT FOUND in $count programs"; return 1; }
  nops=$(sed -n 's/^---- \([0-9]*\) ops.*/\1/p' "$dir/log")
  [ "$nops" -le 5 ] || { cat "$dir/log"; echo "$1: the program was not made small"; return 1; }
  echo "$1: found after $seed; $nops ops are left"
}

ntried=0 nmissed=0
for name in $names; do
  try_mutant "$name" || nmissed=$((nmissed + 1))
  ntried=$((ntried + 1))
done
echo "$((ntried - nmissed)) found, $nmissed missed"
[ "$nmissed" -eq 0 ]
