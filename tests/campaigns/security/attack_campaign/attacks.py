"""Every attack of "What was broken", by its number there, and what is switched off for its twin."""

from __future__ import annotations

from typing import Final

from firmware.record.journal.journal import FILE
from tests.campaigns.security.attack_campaign import defences as of
from tests.campaigns.security.attack_campaign import from_outside as outside
from tests.campaigns.security.attack_campaign import on_the_file as file
from tests.campaigns.security.attack_campaign import on_the_proof as proof
from tests.campaigns.security.attack_campaign.attack import Attack
from tests.campaigns.security.attack_campaign.defences import Off
from tests.campaigns.security.attack_campaign.pages import WAL

_NEW_FILE: Final[tuple[Off, ...]] = (("firmware.record.restore:_insert", file.put_in_place),)
_PART: Final[tuple[Off, ...]] = (("firmware.record.backup:_part_beside", outside.fixed_part),)
_SENTENCE: Final[tuple[Off, ...]] = (
    ("firmware.record.archive_index:JournalError", outside.BareError),
    ("firmware.record.journal.reader:JournalError", outside.BareError),
)
_ONE_WRITER: Final[tuple[Off, ...]] = (
    ("firmware.record.archive_index:is_busy", lambda error: False),
    ("firmware.record.archive_index:LOCKED_S", 0.5),
)
_ELSEWHERE: Final[tuple[Off, ...]] = (
    ("firmware.record.journal.row_index:index_paths", outside.beside_the_record),
)
_TEXT: Final = "each object of the file has our text"
_ESCAPED: Final = "every line is escaped"
_NOTED: Final = "the last signed head is noted beside the key"
_RUNNING: Final = "the open files are compared with the named"

ATTACKS: Final[tuple[Attack, ...]] = (
    Attack(
        "1a",
        "an index planted in the journal that leaves a hand out",
        f"{_TEXT}; every page is checked",
        file.planted_index,
        (*of.SHAPE, *of.PAGES),
    ),
    Attack(
        "1b",
        "one bit in an index of the journal",
        "there is none",
        file.bit_in_an_index,
        (),
        "no index in the file; look-ups go through a cache whose answers are checked",
    ),
    Attack(
        "1c",
        "another profile's text under a profile's hash",
        "content is hashed when read",
        file.other_content,
        of.CONTENT,
    ),
    Attack(
        "1d",
        "a row below number 1",
        "rows are numbered from 1",
        file.row_below_one,
        of.NUMBERS,
        "every look-up begins at row 1",
    ),
    Attack(
        "1e",
        "a trigger named sqlite_… that swallows add-ons",
        _TEXT,
        file.swallowing_trigger,
        (*of.SHAPE, *of.END),
    ),
    Attack(
        "1f",
        "that trigger on a stick, restored",
        f"{_TEXT}; rows go into a new file",
        file.restored_trigger,
        (*of.SHAPE, *of.END, *_NEW_FILE),
    ),
    Attack(
        "1g",
        "user_version 99, and a guard gone",
        "only known shapes are read",
        file.later_version,
        (*of.VERSION, *of.SHAPE),
    ),
    Attack("2a", "one bit in the -wal after a kill", "the witness of the end", file.bit_in_the_wal, of.END),
    Attack(
        "2b",
        "the same, and the witness deleted",
        "a witness that is gone is said",
        file.bit_in_the_wal_without_a_witness,
        of.END,
    ),
    Attack(
        "3a",
        "a commit's sync fails once its frames are there",
        "a failed write is looked for in the file",
        file.refused_and_true,
        of.UNCERTAIN,
    ),
    Attack("3b", "a touch repeated after a restart", "its id is in its rows", file.added_twice, of.REPEATED),
    *(
        Attack(
            f"4{letter}",
            f"{name} {how} while the table runs",
            _RUNNING,
            file.changed_while_running(name, how),
            of.OPEN_FILES,
        )
        for letter, (name, how) in zip(
            "abcdef",
            ((name, how) for name in (FILE, WAL) for how in ("removed", "replaced", "cut")),
            strict=True,
        )
    ),
    Attack(
        "5a", "a verdict as a file's name in a dispute file", _ESCAPED, outside.name_in_a_zip, of.ESCAPING
    ),
    Attack("5b", "escapes in a note that `hands show` prints", _ESCAPED, outside.note_in_a_hand, of.ESCAPING),
    Attack("5c", "escapes in what `settle` quotes", _ESCAPED, outside.text_in_settle, of.ESCAPING),
    Attack(
        "6",
        "a hand sealed again, without the rows up to the slip",
        "a slip vouches for the hand, or the check fails",
        outside.sealed_again,
        of.VOUCHING,
    ),
    Attack(
        "7a",
        "the name of a dealer who is not logged on",
        "a name without a PIN is that of who is logged on",
        outside.in_anothers_name,
        of.STANDING,
    ),
    Attack(
        "7b",
        "a floor person logged on without a PIN",
        "a name that has a PIN asks for it",
        outside.floor_without_a_pin,
        of.ASKING,
    ),
    Attack(
        "8a",
        "a link where a backup is put together",
        "a new name each time",
        outside.link_for_a_backup,
        _PART,
    ),
    Attack("8b", "root restores", "what root makes is the owner's", outside.restored_by_root, of.OWNER),
    Attack(
        "8c",
        "sealed rows of deep JSON and of 6,000 digits, restored",
        "each row is looked into",
        outside.poisoned_restore,
        of.ROWS,
    ),
    Attack(
        "8d",
        "the same rows in `hands list`, `hands show`, `doctor`",
        "a sentence for what cannot be read",
        outside.poisoned_list,
        _SENTENCE,
    ),
    Attack(
        "8e",
        "an index of other names, laid beside the record",
        "the index lies where the table alone writes",
        outside.index_beside_the_record,
        _ELSEWHERE,
    ),
    Attack(
        "8f",
        "`hands list` next to one who writes the index",
        "an index that another process writes is left alone",
        outside.list_beside_a_table,
        _ONE_WRITER,
    ),
    Attack(
        "9a",
        "signatures left out and a stack changed without any key, restored",
        "a restore says what differs, and asks for a word",
        proof.laundered,
        of.COMPARED,
    ),
    Attack(
        "9b", "the same, verified", "a signed head must follow each hand", proof.without_heads, of.PRESENCE
    ),
    Attack(
        "9c",
        "the whole folder put back by half an evening",
        _NOTED,
        proof.put_back_a_day,
        (*of.NOTE, *of.END),
    ),
    Attack("9d", "the same by one hand", _NOTED, proof.put_back_a_hand, (*of.NOTE, *of.END)),
    Attack("9e", "25 rows added with right hashes", "one commit may be ahead", proof.rows_added, of.END),
    Attack(
        "9f",
        "the record made again in its place, witness and index fit",
        _NOTED,
        proof.forged_in_place,
        of.NOTE,
    ),
    Attack(
        "9g",
        "a settled row changed, hashes made again",
        "every hand is settled again",
        proof.settled_otherwise,
        of.SETTLED,
    ),
)
