#!/bin/sh
# make_docs.sh [TSPECC]: writes docs/ops.md and docs/passes.md, which come from the compiler's own tables.
set -eu
tspecc=$(realpath "${1:-build/tspecc}")
cd "$(dirname "$0")/.."
"$tspecc" --list-ops=md >docs/ops.md
"$tspecc" --list-passes=md >docs/passes.md
