#!/usr/bin/env python3
"""Writes the digits data as .npy: train_x, train_y, test_x, test_y. Run once; its output is committed.

  python3 make_data.py [OUT_DIR]        needs numpy and scikit-learn (the data lies inside scikit-learn's package)

Pixels 0..16 become f32 0..1, labels i32. Every third row (i % 3 == 0, 599 of 1797) is held back for the test.
"""
import os
import sys

import numpy as np
from sklearn.datasets import load_digits


def main(out_dir):
    digits = load_digits()
    x = (digits.data / 16).astype(np.float32)
    y = digits.target.astype(np.int32)
    held_back = np.arange(len(y)) % 3 == 0
    for name, rows in (("test", held_back), ("train", ~held_back)):
        np.save(os.path.join(out_dir, f"{name}_x.npy"), np.ascontiguousarray(x[rows]))
        np.save(os.path.join(out_dir, f"{name}_y.npy"), y[rows])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
