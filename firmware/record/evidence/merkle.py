"""Merkle trees as in RFC 6962, section 2.1: roots, inclusion proofs and consistency proofs, made and checked.

A tree is given by a function that returns the root of a whole, aligned subtree: `subtree(level, number)` covers the
2^level leaves from number * 2^level on. So a tree of any length is proven from a few hashes, wherever they are stored.

>>> leaves = [leaf_hash(bytes([n])) for n in range(7)]
>>> tree = of_leaves(leaves)
>>> proof = inclusion(tree, 3, 7)
>>> root_of_inclusion(leaves[3], 3, 7, proof) == root(tree, 7)
True
>>> extends(3, root(tree, 3), 7, root(tree, 7), consistency(tree, 3, 7))
True
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

from firmware.record.evidence.dispute_verifier import leaf_hash, node_hash, root_of_inclusion

__all__ = (
    "MAX_HASHES",
    "consistency",
    "extends",
    "inclusion",
    "leaf_hash",
    "node_hash",
    "of_leaves",
    "root",
    "root_of_inclusion",
)

Subtree = Callable[[int, int], bytes]
"""Level and number of a whole subtree → its root, 32 bytes."""
MAX_HASHES: Final = 63
"""Maximum number of hashes that a proof may have (C2SP tlog-witness)."""
_EMPTY: Final = hashlib.sha256().digest()


def of_leaves(leaves: Sequence[bytes]) -> Subtree:
    """Return the tree of leaves' hashes that are in memory; for trees of moderate length."""

    @cache
    def subtree(level: int, number: int) -> bytes:
        if level == 0:
            return leaves[number]
        return node_hash(subtree(level - 1, 2 * number), subtree(level - 1, 2 * number + 1))

    return subtree


def root(tree: Subtree, size: int) -> bytes:
    """Return the root of the first `size` leaves."""
    return _range(tree, 0, size) if size else _EMPTY


def inclusion(tree: Subtree, number: int, size: int) -> list[bytes]:
    """Return the proof that leaf `number`, counted from 0, is in the tree of `size` leaves. Raises ValueError."""
    if not 0 <= number < size:
        raise ValueError(f"there is no leaf {number} among {size}")
    proof: list[bytes] = []
    first, end = 0, size
    while end - first > 1:
        middle = first + _split(end - first)
        if number < middle:
            proof.append(_range(tree, middle, end))
            end = middle
        else:
            proof.append(_range(tree, first, middle))
            first = middle
    return proof[::-1]


def consistency(tree: Subtree, old: int, size: int) -> list[bytes]:
    """Return the proof that the tree of `size` leaves begins with that of `old` leaves. Raises ValueError."""
    if not 0 <= old <= size:
        raise ValueError(f"{size} leaves do not extend {old}")
    if old in (0, size):
        return []
    proof: list[bytes] = []
    first, end = 0, size
    while end != old:
        middle = first + _split(end - first)
        if old <= middle:
            proof.append(_range(tree, middle, end))
            end = middle
        else:
            proof.append(_range(tree, first, middle))
            first = middle
    # without `first` the old tree is one subtree of the new one, and its root is known to anyone who checks
    if first:
        proof.append(_range(tree, first, end))
    return proof[::-1]


def extends(old: int, old_root: bytes, size: int, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Return whether a proof shows that the tree of `size` leaves begins with that of `old` (RFC 9162, 2.1.4.2)."""
    if not 0 <= old <= size:
        return False
    if old in (0, size):
        return not proof and (old_root == new_root if old == size else old_root == _EMPTY)
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    number, last = old - 1, size - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    old_hash = new_hash = path[0]
    for one in path[1:]:
        if not last:
            return False
        if number & 1 or number == last:
            old_hash, new_hash = node_hash(one, old_hash), node_hash(one, new_hash)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            new_hash = node_hash(new_hash, one)
        number, last = number >> 1, last >> 1
    return last == 0 and old_hash == old_root and new_hash == new_root


def _split(count: int) -> int:
    """Return the greatest power of two below a count of two or more."""
    return 1 << (count - 1).bit_length() - 1


def _range(tree: Subtree, first: int, end: int) -> bytes:
    """Return the root over the leaves from `first` to before `end`: a part of a tree as it is split for a proof."""
    count = end - first
    if count & (count - 1) == 0:
        level = count.bit_length() - 1
        return tree(level, first >> level)
    middle = first + _split(count)
    return node_hash(_range(tree, first, middle), _range(tree, middle, end))
