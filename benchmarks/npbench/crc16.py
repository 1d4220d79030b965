"""Cyclic redundancy check of 16 bits (CCITT), a bit at a time. Domain: combinatorial logic."""

import numpy as np


def crc16(data, poly=0x8408):
    crc = 0xFFFF
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def initialize(N):
    """`N` bytes."""
    return {"data": np.random.default_rng(42).integers(0, 256, size=(N,), dtype=np.uint8)}
