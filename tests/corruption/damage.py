"""Ways in which a file goes wrong without a word from the file system."""

from __future__ import annotations

import random
from collections.abc import Callable


def one_bit(content: bytes, chance: random.Random) -> bytes:
    """One flipped bit, as memory and disks flip them."""
    return _flipped(content, chance, 1)


def several_bits(content: bytes, chance: random.Random) -> bytes:
    """Two to sixteen flipped bits."""
    return _flipped(content, chance, chance.randint(2, 16))


def truncated(content: bytes, chance: random.Random) -> bytes:
    """The beginning alone, as a copy that broke off leaves it."""
    return content[: chance.randrange(len(content))]


def emptied(content: bytes, chance: random.Random) -> bytes:
    """Nothing, as a file system leaves a file that was not flushed before a power cut."""
    return b""


def zeroed_block(content: bytes, chance: random.Random) -> bytes:
    """A stretch of zeros, as an unwritten block leaves it."""
    at, length = chance.randrange(len(content)), chance.choice((1, 16, 512, 4096))
    return content[:at] + bytes(len(content[at : at + length])) + content[at + length :]


def _flipped(content: bytes, chance: random.Random, bits: int) -> bytes:
    damaged = bytearray(content)
    for _ in range(bits):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


DAMAGES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "one bit": one_bit,
    "several bits": several_bits,
    "truncated": truncated,
    "emptied": emptied,
    "zeroed block": zeroed_block,
}


def damaged(content: bytes, chance: random.Random) -> tuple[str, bytes]:
    """The name of a way, one bit in every second case, and what it leaves of `content`, which is another."""
    while True:
        name = "one bit" if chance.random() < 0.5 else chance.choice(list(DAMAGES))
        found = DAMAGES[name](content, chance)
        if found != content:
            return name, found
