"""What proto/SKETCH.md says, word by word, in plain Python."""

import math
import struct

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
SUMS = 16
BLOCK = 1024
# Formats of struct: of the bits, and of the numbers.
FORMATS = {"fp64": ("Q", "d"), "fp32": ("I", "f"), "fp16": ("H", "e")}


def mix(i):
    x = (i + 1) * GOLDEN & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def word(bits):
    return (bits & 0xFFFFFFFF) + GOLDEN * (bits >> 32) & MASK


def digest(bits, numbers=None):
    """Of elements' bits; `numbers` are theirs in the whole tensor."""
    total = 0
    for i, each in zip(numbers or range(len(bits)), bits):
        key = mix(i % BLOCK) | 1
        factor = mix((1 << 62) + i // BLOCK) | 1
        total += key * factor * word(each)
    return total & MASK


def sketch(values, numbers=None):
    """In exact sums of doubles."""
    sums = [[] for _ in range(SUMS)]
    for i, x in zip(numbers or range(len(values)), values):
        if math.isfinite(x):
            row, block = i % BLOCK // SUMS, i // BLOCK
            signs = mix((2 << 62) + row) ^ mix((3 << 62) + block)
            sums[i % SUMS].append(-x if signs >> i % SUMS & 1 else x)
    return [math.fsum(each) for each in sums]


def bits_of(data, dtype):
    return [b for (b,) in struct.iter_unpack("<" + FORMATS[dtype][0], data)]


def values_of(data, dtype):
    return [v for (v,) in struct.iter_unpack("<" + FORMATS[dtype][1], data)]
