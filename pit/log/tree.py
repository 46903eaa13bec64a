"""The Merkle tree of an epoch, in the database: leaves, and the root of each whole subtree of 256, 256², … leaves.

Hashes between these levels are made again, a tile of 256 at a time; the tiles used last stay in memory. So a proof in
a log of millions costs a few look-ups, and the database stores little more than the leaves.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from firmware.record.evidence.merkle import Subtree, node_hash, root
from pit.store.database import Connection

HEIGHT: Final = 8
"""Levels of a tile."""
WIDTH: Final = 1 << HEIGHT
MAX_TILES: Final = 256
"""Tiles in memory, 40 kB each."""
Tile = list[list[bytes]]
"""Hashes by level, whole subtrees only."""
RunQuery = Callable[[str, tuple[Any, ...]], list[tuple[Any, ...]]]
"""Runs a query and returns its rows."""


def over(connection: Connection) -> RunQuery:
    """Return what reads over a connection."""
    return lambda query, values: connection.execute(query.encode(), values).fetchall()


class Trees:
    """Reads and extends the trees of a database. Not for several threads."""

    def __init__(self) -> None:
        self._tiles: OrderedDict[tuple[int, int, int], Tile] = OrderedDict()

    def of(self, read: RunQuery, epoch: int) -> Subtree:
        """Return the tree of an epoch."""
        return partial(self._subtree, read, epoch)

    def append(self, connection: Connection, epoch: int, size: int, added: int) -> bytes:
        """Store what `added` leaves complete, which are in `leaf` already behind `size` others; return the new root."""
        level, before, after = HEIGHT, size, size + added
        for key in [key for key in self._tiles if key[0] == epoch]:
            if len(self._tiles[key][0]) < WIDTH:  # it grows
                del self._tiles[key]
        while after >> level:
            for number in range(before >> level, after >> level):
                connection.execute(
                    "INSERT INTO node (epoch, level, number, hash) VALUES (%s, %s, %s, %s)",
                    (epoch, level, number, self._whole(over(connection), epoch, level, number)),
                )
            level += HEIGHT
        return root(self.of(over(connection), epoch), after)

    def forget(self) -> None:
        """Read everything again: what was added was not committed, or another process adds."""
        self._tiles.clear()

    def _whole(self, read: RunQuery, epoch: int, level: int, number: int) -> bytes:
        """Return the root of the tile below a stored node."""
        return self._tile(read, epoch, level // HEIGHT - 1, number)[HEIGHT][0]

    def _subtree(self, read: RunQuery, epoch: int, level: int, number: int) -> bytes:
        row, inside = divmod(level, HEIGHT)
        tile = self._tile(read, epoch, row, number >> (HEIGHT - inside))
        at = number & ((1 << (HEIGHT - inside)) - 1)
        if at >= len(tile[inside]):  # the tile has grown since it was read
            self._tiles.pop((epoch, row, number >> (HEIGHT - inside)))
            tile = self._tile(read, epoch, row, number >> (HEIGHT - inside))
        return tile[inside][at]

    def _tile(self, read: RunQuery, epoch: int, row: int, number: int) -> Tile:
        key = epoch, row, number
        tile = self._tiles.get(key)
        if tile is None:
            first = number * WIDTH
            table, level = ("node", (row * HEIGHT,)) if row else ("leaf", ())
            which = "level = %s AND " if row else ""
            found = read(
                f"SELECT hash FROM {table} WHERE epoch = %s AND {which}number >= %s AND number < %s ORDER BY number",
                (epoch, *level, first, first + WIDTH),
            )
            tile = self._tiles[key] = pyramid([bytes(one) for (one,) in found])
            if len(self._tiles) > MAX_TILES:
                self._tiles.popitem(last=False)
        self._tiles.move_to_end(key)
        return tile


def pyramid(hashes: Sequence[bytes]) -> Tile:
    """Return the hashes of all whole subtrees over up to 256 hashes, by level."""
    tile = [list(hashes)]
    for _ in range(HEIGHT):
        below = tile[-1]
        tile.append([node_hash(*below[at : at + 2]) for at in range(0, len(below) - 1, 2)])
    return tile
