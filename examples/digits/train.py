#!/usr/bin/env python3
"""Trains the two-layer perceptron of digits.tspec with NumPy and writes weights.safetensors and the expected results.

  python3 train.py [DIR]                needs numpy; reads train_*.npy and test_*.npy in DIR, writes beside them

Adam, 60 epochs in batches of 64, fixed seed: the same weights on every run with the same NumPy. The files are committed;
test_logits.npy and test_label.npy are what this script computes for the held-back rows, the numbers that `predict` must give.
"""
import json
import os
import struct
import sys

import numpy as np

PIXELS, HIDDEN, CLASSES = 64, 100, 10
EPOCHS, BATCH, RATE, SEED = 60, 64, 2e-3, 7


def init(rng):
    def xavier(d, f):
        return rng.normal(0, np.sqrt(2 / (d + f)), (d, f)).astype(np.float32)
    return {
        "hidden/kernel": xavier(PIXELS, HIDDEN), "hidden/bias": np.zeros(HIDDEN, np.float32),
        "output/kernel": xavier(HIDDEN, CLASSES), "output/bias": np.zeros(CLASSES, np.float32),
    }


def forward(p, x):
    h = np.maximum(x @ p["hidden/kernel"] + p["hidden/bias"], 0)
    return h, h @ p["output/kernel"] + p["output/bias"]


def gradients(p, x, y):
    h, logits = forward(p, x)
    e = np.exp(logits - logits.max(1, keepdims=True))
    d = e / e.sum(1, keepdims=True)
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    dh = (d @ p["output/kernel"].T) * (h > 0)
    return {"hidden/kernel": x.T @ dh, "hidden/bias": dh.sum(0), "output/kernel": h.T @ d, "output/bias": d.sum(0)}


def train(x, y):
    rng = np.random.default_rng(SEED)
    p = init(rng)
    m = {k: np.zeros_like(v) for k, v in p.items()}
    v = {k: np.zeros_like(w) for k, w in p.items()}
    t = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(y))
        for rows in np.array_split(order, len(y) // BATCH):
            t += 1
            for k, g in gradients(p, x[rows], y[rows]).items():
                m[k] = 0.9 * m[k] + 0.1 * g
                v[k] = 0.999 * v[k] + 0.001 * g * g
                step = RATE * (m[k] / (1 - 0.9 ** t)) / (np.sqrt(v[k] / (1 - 0.999 ** t)) + 1e-8)
                p[k] = (p[k] - step).astype(np.float32)
    return p


def save_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for value in tensors.values():
            f.write(np.ascontiguousarray(value).tobytes())


def main(folder):
    def load(name):
        return np.load(os.path.join(folder, name + ".npy"))
    p = train(load("train_x"), load("train_y"))
    save_safetensors(os.path.join(folder, "weights.safetensors"), p)
    exact = {k: v.astype(np.float64) for k, v in p.items()}
    _, logits = forward(exact, load("test_x").astype(np.float64))
    np.save(os.path.join(folder, "test_logits.npy"), logits.astype(np.float32))
    label = logits.argmax(1).astype(np.int32)
    np.save(os.path.join(folder, "test_label.npy"), label)
    print(f"accuracy {np.mean(label == load('test_y')):.9g} on {len(label)} held-back digits")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
