#!/bin/sh
# A file of parameters that count 0, 1, 2, .. goes through each mesh, loaded and saved, and holds the same numbers ever after.
#   bugs_files.sh TSPECC PROGRAM WORK HEADER COUNT MESH..
# HEADER is the safetensors header of the first file, COUNT its elements (f32).
set -eu
tspecc=$1 program=$2 work=$3 header=$4 count=$5
shift 5
mkdir -p "$work"

# Octal escapes of an unsigned number's bytes, low first, and of whole numbers as f32.
escapes='function bytes(n, count) { while (count-- > 0) { printf "\\%03o", n % 256; n = int(n / 256) } }
  function f32(n, e) { if (n == 0) return 0; for (e = 0; 2 ^ (e + 1) <= n; ++e); return (127 + e) * 2 ^ 23 + (n - 2 ^ e) * 2 ^ (23 - e) }'
numbers=$(awk -v count="$count" "$escapes BEGIN { for (i = 0; i < count; ++i) bytes(f32(i), 4) }")
length=$(awk -v count="${#header}" "$escapes BEGIN { bytes(count, 8) }")
# shellcheck disable=SC2059 # the escapes are meant
printf "$numbers" > "$work/numbers"
# shellcheck disable=SC2059
{ printf "$length"; printf %s "$header"; cat "$work/numbers"; } > "$work/file.safetensors"

for mesh in "$@"; do
  "$tspecc" "$program" --mesh="$mesh" -o "$work/program"
  "$work/program" read --load "$work/file.safetensors" --save "$work/next.safetensors"
  tail -c "$((4 * count))" "$work/next.safetensors" | cmp - "$work/numbers"
  mv "$work/next.safetensors" "$work/file.safetensors"
done
