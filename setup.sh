#!/usr/bin/env bash
# Installs what tspec needs and builds it into build/. Safe to run again; quick when nothing changed.
#
#   ./setup.sh            packages and build
#   ./setup.sh --demo     the same, then the digits example on 8 ranks
#   ./setup.sh --test     the same with what tests need, then all tests through ctest
#   ./setup.sh --packages [--test]   only the packages
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

usage() { sed -n '2,8s/^# \{0,1\}//p' "$0"; }

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Names of packages.txt, with those marked [test] if $1 is 1.
wanted_packages() {
  sed -e 's/#.*//' packages.txt | awk -v test="$1" 'NF && (test == 1 || $2 != "[test]") { print $1 }'
}

install_packages() {
  local missing=()
  for package in $(wanted_packages "$1"); do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  echo "installing ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

build() {
  local options=()
  [ -f build/build.ninja ] || options=(-G Ninja)
  cmake -S . -B build "${options[@]}" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING="$1" >build-configure.log 2>&1 ||
    { cat build-configure.log; exit 1; }
  mv build-configure.log build/configure.log
  cmake --build build
}

# Several ranks on few cores, also as root and in containers.
mpi_environment() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
}

demo() {
  local digits=examples/digits
  build/tspecc "$digits/digits.tspec" -o build/digits
  build/digits predict --load "$digits/weights.safetensors" --in "x=$digits/test_x.npy" --out label=build/label.npy
  cmp build/label.npy "$digits/test_label.npy" && echo "the labels are those of train.py"
  build/digits evaluate --load "$digits/weights.safetensors" --in "x=$digits/test_x.npy" --in "y=$digits/test_y.npy"
}

demo=0 test=0 packages_only=0
for argument in "$@"; do
  case "$argument" in
    --demo) demo=1 ;;
    --test) test=1 ;;
    --packages) packages_only=1 ;;
    --help|-h) usage; exit 0 ;;
    *) echo "setup.sh: unknown option $argument" >&2; usage >&2; exit 2 ;;
  esac
done

install_packages "$test"
if [ "$packages_only" -eq 1 ]; then exit 0; fi
if [ "$test" -eq 1 ] || grep -qs 'BUILD_TESTING:BOOL=ON' build/CMakeCache.txt; then
  build ON
else
  build OFF
fi
mpi_environment
if [ "$demo" -eq 1 ]; then demo; fi
if [ "$test" -eq 1 ]; then ctest --test-dir build --output-on-failure; fi
