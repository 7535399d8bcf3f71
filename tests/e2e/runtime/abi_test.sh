#!/bin/sh
# abi_test.sh NM LIBTSPECRT ABI_DEF HEADER: what abi.def promises is in the archive, and every
# function of the public header is promised.
nm=$1 archive=$2 abi=$3 header=$4
failed=0
defined=$("$nm" --defined-only "$archive" 2>/dev/null | awk '$2 == "T" { print $3 }' | sort -u)
promised=$(sed -n 's/^TSPEC_RT_SYMBOL(\([a-z_]*\), RUNTIME)$/\1/p' "$abi")
for symbol in $promised; do
  echo "$defined" | grep -qx "$symbol" || { echo "abi.def has $symbol, the archive has not"; failed=1; }
done
for symbol in $(grep -v '^//' "$header" | grep -o '\btspec_rt_[a-z_]*(' | tr -d '('); do
  echo "$promised" | grep -qx "$symbol" || { echo "the header has $symbol, abi.def has not"; failed=1; }
done
undefined=$("$nm" -u "$archive" 2>/dev/null | awk '{ print $2 }' | sort -u | grep -E '^(MPI_|LLVM|mlir|tspec_)' |
  while read -r symbol; do echo "$defined" | grep -qx "$symbol" || echo "$symbol"; done)
[ "$undefined" = tspec_program ] || { echo "the archive needs more than a program: $undefined"; failed=1; }
exit $failed
