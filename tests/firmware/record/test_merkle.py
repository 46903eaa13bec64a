"""Merkle trees: every proof of every tree up to 128 leaves, and of longer ones by hypothesis."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.record.evidence.merkle import (
    consistency,
    extends,
    inclusion,
    leaf_hash,
    node_hash,
    of_leaves,
    root,
    root_of_inclusion,
)
from tests.examples import examples

LEAVES = [leaf_hash(number.to_bytes(8, "big")) for number in range(4096)]
TREE = of_leaves(LEAVES)
EXHAUSTIVE = 128


def by_definition(leaves: list[bytes]) -> bytes:
    """The root as RFC 6962, section 2.1, defines it."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return leaves[0]
    half = 1
    while half * 2 < len(leaves):
        half *= 2
    return node_hash(by_definition(leaves[:half]), by_definition(leaves[half:]))


def bent(proof: list[bytes]) -> list[list[bytes]]:
    """Proofs that are almost this one."""
    made = [[*proof, bytes(32)], [bytes(32), *proof]]
    for at in range(len(proof)):
        made.append(proof[:at] + proof[at + 1 :])
        made.append([*proof[:at], bytes([proof[at][0] ^ 1]) + proof[at][1:], *proof[at + 1 :]])
    return made


def test_the_empty_trees_root_and_the_roots_of_one_to_128_leaves_are_those_of_the_definition() -> None:
    for size in range(EXHAUSTIVE + 1):
        assert root(TREE, size) == by_definition(LEAVES[:size])


def test_every_leaf_of_every_tree_is_proven_and_no_bent_proof_holds() -> None:
    for size in range(1, EXHAUSTIVE + 1):
        whole = root(TREE, size)
        for number in range(size):
            proof = inclusion(TREE, number, size)
            assert root_of_inclusion(LEAVES[number], number, size, proof) == whole
            assert root_of_inclusion(LEAVES[number], number + size, size, proof) is None
            assert size == 1 or root_of_inclusion(LEAVES[number], (number + 1) % size, size, proof) != whole
            assert root_of_inclusion(LEAVES[number + 1], number, size, proof) != whole
            if number % 8 == size % 8:  # each costs as much as all others together
                for wrong in bent(proof):
                    assert root_of_inclusion(LEAVES[number], number, size, wrong) != whole


def test_every_tree_extends_all_before_it_and_no_bent_proof_holds() -> None:
    for size in range(1, EXHAUSTIVE + 1):
        whole = root(TREE, size)
        for old in range(size + 1):
            proof = consistency(TREE, old, size)
            before = root(TREE, old)
            assert extends(old, before, size, whole, proof)
            assert not extends(old, bytes(32), size, whole, proof)
            assert not old or not extends(old, before, size, bytes(32), proof)
            if 0 < old < size and old % 8 == size % 8:
                assert not any(extends(old, before, size, whole, wrong) for wrong in bent(proof))
                assert not extends(old + 1, before, size, whole, proof)


@examples(150)
@given(st.data())
def test_proofs_of_longer_trees_hold_and_bent_ones_do_not(data: st.DataObject) -> None:
    size = data.draw(st.integers(129, len(LEAVES)))
    number = data.draw(st.integers(0, size - 1))
    whole, proof = root(TREE, size), inclusion(TREE, number, size)
    assert whole == by_definition(LEAVES[:size])
    assert root_of_inclusion(LEAVES[number], number, size, proof) == whole
    assert all(root_of_inclusion(LEAVES[number], number, size, wrong) != whole for wrong in bent(proof))
    old = data.draw(st.integers(1, size - 1))
    proof = consistency(TREE, old, size)
    assert extends(old, root(TREE, old), size, whole, proof)
    assert not any(extends(old, root(TREE, old), size, whole, wrong) for wrong in bent(proof))


def test_a_place_or_a_size_that_no_tree_has_is_refused() -> None:
    with pytest.raises(ValueError, match="no leaf 3 among 3"):
        inclusion(TREE, 3, 3)
    with pytest.raises(ValueError, match="do not extend"):
        consistency(TREE, 4, 3)
    assert not extends(4, root(TREE, 4), 3, root(TREE, 3), [])
