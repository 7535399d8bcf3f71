#!/bin/sh
# The demo's commands: labels and logits are those of the training script, the accuracy is what it reached.
#   digits.sh TSPECC NPY_CLOSE EXAMPLES WORK
set -eu
tspecc=$1 npy_close=$2 digits=$3/digits work=$4
mkdir -p "$work"
"$tspecc" "$digits/digits.tspec" -o "$work/digits"
"$work/digits" predict --load "$digits/weights.safetensors" --in "x=$digits/test_x.npy" --out "label=$work/label.npy" \
  --out "logits=$work/logits.npy"
cmp "$work/label.npy" "$digits/test_label.npy"
"$npy_close" "$work/logits.npy" "$digits/test_logits.npy" 599 10
accuracy=$("$work/digits" evaluate --load "$digits/weights.safetensors" --in "x=$digits/test_x.npy" --in "y=$digits/test_y.npy")
echo "$accuracy"
echo "$accuracy" | awk '$1 == "accuracy" && $2 >= 0.95 && $2 <= 1 { found = 1 } END { exit !found }'
