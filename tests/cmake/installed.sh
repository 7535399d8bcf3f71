#!/usr/bin/env bash
# Installs a build into a folder of its own and builds the examples against that, with CMake and with pkg-config, then runs them:
#   installed.sh SOURCE BUILD WORK
set -euo pipefail
source=$1 build=$2 work=$3
prefix=$work/prefix

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$prefix" >"$work/install.log"

for example in plugins embed-compiler; do
  cmake -G Ninja -S "$source/examples/$example" -B "$work/cmake-$example" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_FLAGS="-Wall -Wextra -Werror" >"$work/$example.log"
  cmake --build "$work/cmake-$example" >>"$work/$example.log" || { cat "$work/$example.log"; exit 1; }
  mkdir -p "$work/pkg-$example"
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -s -C "$source/examples/$example" OUT="$work/pkg-$example" \
    CFLAGS="-Wall -Wextra -Werror"
done

# expect TEXT COMMAND...: the command succeeds and prints a line with TEXT
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || { echo "failed: $*"; echo "$output"; exit 1; }
  grep -qF -- "$text" <<<"$output" || { echo "'$text' is not in what $* prints:"; echo "$output"; exit 1; }
}

tspecc=$prefix/bin/tspecc
tour=$source/examples/tour/tour.tspec
for kind in cmake pkg; do
  plugins=$work/$kind-plugins
  # the tour's one all_reduce: 3x8 f32 over 2 ranks
  expect "forward,(top),all_reduce,model,96," "$tspecc" "$tour" --pass-plugin="$plugins/libcomm-report.so,format=csv" --report
  expect "sends 48 bytes instead of 96" "$tspecc" "$tour" --pass-plugin="$plugins/libbf16-wire.so,min-bytes=96" --report
  expect "auto-batch" "$tspecc" --list-passes --pass-plugin="$plugins/libauto-batch.so"
  embed=$work/$kind-embed-compiler/shardings
  expect '"value": "h", "type": "f32[5, 6]", "sharding": "[data, model]", "block": "f32[3, 3]"' "$embed" "$tour"
  expect '"value": "w1", "type": "f32[8, 6]", "sharding": "[-, model]", "block": "f32[8, 2]"' "$embed" "$tour" data=1,model=3
  if "$embed" "$source/CMakeLists.txt" 2>/dev/null; then
    echo "$embed takes what is no program"
    exit 1
  fi
done

# the installed compiler makes executables
(cd "$work" && "$tspecc" "$tour" -o tour && ./tour --info >/dev/null)
