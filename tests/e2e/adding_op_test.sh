#!/bin/sh
# adding_op_test.sh SOURCE_DIR WORK_DIR CMAKE LIT: docs/adding-an-op.patch applies to a copy of the tree, everything that has a row per
# op builds, and the op's lit file passes.
set -eu
source=$1 work=$2 cmake=$3 lit=$4
rm -rf "$work"
mkdir -p "$work/tree"
tar -C "$source" --exclude=./.git --exclude=./build -cf - . | tar -C "$work/tree" -xf -
patch -d "$work/tree" -p1 --no-backup-if-mismatch <"$source/docs/adding-an-op.patch"
"$cmake" -G Ninja -S "$work/tree" -B "$work/build" -DCMAKE_BUILD_TYPE=Debug >"$work/configure.log"
"$cmake" --build "$work/build" -j 2 --target tspecc tspecrt tspec_mpi tspec_property >"$work/build.log" ||
  { tail -50 "$work/build.log"; exit 1; }
"$lit" -v --filter=op-trunc "$work/build/tests/lit/driver"
