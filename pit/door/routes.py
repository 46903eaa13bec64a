"""The door: the routes by which tables send their records and fetch what is theirs. There is no route that plays.

A table is who its certificate is: no field of a body says so. Every answer that refuses has a sentence in "error".
Routes are closed to everybody without an enrolled certificate.
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from flask import Flask, Request, Response, g, request, send_from_directory

from firmware.table.entry import Entry, content_hash
from firmware.uplink import enrolment
from firmware.uplink.enrolment import EnrolmentError
from firmware.uplink.inbox.requests import requests_from_table
from firmware.uplink.wire import (
    HIGHEST,
    MAX_BYTES,
    MAX_ROWS,
    WireError,
    batch,
    decode,
    encode_rows,
    is_hash,
    length_once_inflated,
)
from pit.authority import Authority
from pit.door.enrolment import answer as enrolment_answer
from pit.door.take import take_from
from pit.door.turns import LONG_BYTES, Turns
from pit.errors import (
    AuthorityError,
    DatabaseError,
    EnrolmentRefused,
    Fork,
    NotEnrolledError,
    PitError,
    ServerBusy,
)
from pit.files.offers import HouseRepository
from pit.files.requests import keep_progress, may_fetch
from pit.follow.data_requests import fulfil
from pit.follow.news import News
from pit.log.answers import Answers
from pit.log.keeper import Keeper
from pit.status.tables import Table, table_of_serial
from pit.store.database import Database
from pit.store.files import Files, FilesError

MAX_TEXT_BYTES: Final = 16 << 20
"""Bytes of a text that a row names."""
MAX_IMAGE_BYTES: Final = 32 << 20
"""Bytes of an image: a whole frame without losses is 20 MB."""
_SERVED: Final = re.compile(r"(house|maker)/[0-9a-z.]{1,40}\.json|targets/[0-9a-f]{2}/([0-9a-f]{64})")
"""The files of the repository: metadata, and what it names."""
OPEN: Final = frozenset({"authority_certificate", "enrol"})
"""Routes for a table without a certificate."""
SERIAL: Final = "X-Client-Serial"
"""The header in which nginx says whose certificate it has checked; it overwrites what a client sends."""
Identify = Callable[[Request], str | None]
"""Returns the serial number of the client's checked certificate, None without one."""


def by_nginx(asked: Request) -> str | None:
    """Return the serial number that nginx hands on. Only nginx may open the socket that this is served on."""
    return asked.headers.get(SERIAL) or None


def make_door(
    database: Database,
    files: Files,
    identify: Identify = by_nginx,
    *,
    news: News | None = None,
    keeper: Keeper | None = None,
    authority: Authority | None = None,
    house: HouseRepository | None = None,
) -> Flask:
    """Return the application.

    `news` gets the rows that it stores, `keeper` what tables hold of its log; `authority` brings tables in;
    `house` has what goes down to them.
    """
    app = Flask("pit")
    answers = Answers(database, keeper) if keeper is not None else None
    turns = Turns()
    app.config["MAX_CONTENT_LENGTH"] = MAX_IMAGE_BYTES
    app.json.sort_keys = False  # type: ignore[attr-defined]

    @app.before_request
    def only_tables() -> None:
        if request.endpoint in OPEN:
            return  # a table that is being brought in has no certificate yet: its code is its proof
        serial = identify(request)
        if serial is None:
            raise NotEnrolledError("A table shows its certificate.")
        g.serial = serial
        if request.endpoint == rows.__name__:
            return  # `take_from` looks who it is in its own transaction
        with database.transaction() as connection:
            g.table = table_of_serial(connection, serial)

    @app.post("/v1/rows")
    def rows() -> Response:
        if (request.content_length or 0) > MAX_BYTES:
            return _refuse(413, WireError("The body is too long: %(most)s bytes at most.", most=MAX_BYTES))
        body = request.get_data(cache=False)
        with turns.of(length_once_inflated(body, LONG_BYTES)):
            offer = decode(body)
            taken = take_from(database, g.serial, offer)
        if news is not None:
            news.add(taken.record_id, taken.rows, taken.at_ms)
        files_now = taken.files
        if offer.files:
            said = requests_from_table(list(offer.files))
            with database.transaction() as connection:
                files_now = keep_progress(connection, taken.table_id, offer.release, said)
        answer = {
            "have": list(taken.head),
            "wishes": taken.data_requests,
            "files": files_now,
            "now": taken.at_ms,
        }
        if answers is not None and offer.holds is not None:
            proof = answers.to(taken.table_id, taken.record_id, offer.holds)
            if proof is not None:
                answer["proof"] = proof
        return _answer(200, answer)

    @app.get("/v1/record")
    def record() -> Response:
        after = request.args.get("after", default=0, type=int)
        genesis = request.args.get("record", default="")
        if genesis and not is_hash(genesis):
            return _refuse(400, WireError("A record's name is the hash of its first row."))
        first, found = _rows_after(database, g.table, genesis, after)
        return Response(encode_rows(first, found), mimetype="application/octet-stream")

    @app.put("/v1/content/<digest>")
    def content(digest: str) -> Response:
        data = request.get_data(cache=False)
        if len(data) > MAX_TEXT_BYTES or not is_hash(digest) or content_hash(data) != digest:
            return _refuse(400, PitError("These bytes are not what their name says."))
        with database.transaction() as connection:
            if not fulfil(connection, g.table, digest, "content"):
                return _refuse(404, PitError("Nobody asked for that."))
            connection.execute(
                "INSERT INTO content (hash, bytes) VALUES (%s, %s) ON CONFLICT DO NOTHING", (digest, data)
            )
        return _answer(200, {})

    @app.put("/v1/images/<digest>")
    def image(digest: str) -> Response:
        data = request.get_data(cache=False)
        if not is_hash(digest) or content_hash(data) != digest:
            return _refuse(400, PitError("These bytes are not what their name says."))
        with database.transaction() as connection:
            if not fulfil(connection, g.table, digest, "image"):
                return _refuse(404, PitError("Nobody asked for that."))
            files.keep(digest, data)  # durable before the request is ended: an error here undoes that
        return _answer(200, {})

    @app.get("/v1/files/<digest>")
    def text(digest: str) -> Response:
        if not is_hash(digest):
            return _refuse(404, PitError("There is no such file for this table."))
        with database.transaction() as connection:
            row = connection.execute(
                "SELECT bytes FROM content JOIN wish USING (hash) WHERE hash = %s AND table_id = %s",
                (digest, g.table.table_id),
            ).fetchone()
        if row is None:
            return _refuse(404, PitError("There is no such file for this table."))
        return Response(bytes(row[0]), mimetype="application/octet-stream")

    @app.get("/v1/repository/<path:name>")
    def repository(name: str) -> Response:
        served = _SERVED.fullmatch(name) if house is not None else None
        with database.transaction() as connection:
            is_asked = served and (not served[2] or may_fetch(connection, g.table.table_id, served[2]))
        if house is None or not is_asked:
            return _refuse(404, PitError("There is no such file for this table."))
        if identify is by_nginx and (house.folder / name).is_file():
            return Response(headers={"X-Accel-Redirect": f"/repository/{name}"})
        return send_from_directory(house.folder, name, mimetype="application/octet-stream", etag=False)

    if authority is not None:
        _bring_in(app, database, authority)
    _refusals(app)
    return app


def _bring_in(app: Flask, database: Database, authority: Authority) -> None:
    """Add the routes of a table without a certificate."""

    @app.get(enrolment.AUTHORITY_PATH)
    def authority_certificate() -> Response:
        return Response(authority.pem, mimetype="application/x-pem-file")

    @app.post(enrolment.PATH)
    def enrol() -> Response:
        if (request.content_length or 0) > enrolment.MAX_BYTES:
            return _refuse(413, PitError("The body is too long."))
        proof = request.headers.get(enrolment.HEADER, "")
        body, own = enrolment_answer(
            database, authority, request.get_data(cache=False), proof, app.logger.warning
        )
        return Response(body, mimetype="application/json", headers={enrolment.HEADER: own})


def _rows_after(
    database: Database, table: Table, genesis: str, after: int
) -> tuple[dict[str, Any], tuple[Entry, ...]]:
    """Return the newest branch's head of a table's record, and its rows after a number, as many as one body takes.

    Without a name of a record it is the one that was heard of last.
    """
    names = ", ".join(Entry._fields)
    with database.transaction() as connection:
        row = connection.execute(
            "SELECT record_id, genesis, head.seq, head.hash FROM record JOIN head USING (record_id)"
            " WHERE table_id = %s AND (genesis = %s OR %s = '') ORDER BY heard_at DESC, branch DESC LIMIT 1",
            (table.table_id, genesis, genesis),
        ).fetchone()
        if row is None:
            return {"record": "", "head": [0, ""]}, ()
        found = connection.execute(
            f"SELECT {names} FROM entry WHERE record_id = %s AND seq > %s ORDER BY seq LIMIT %s",
            (row[0], min(max(0, after), HIGHEST), MAX_ROWS),
        ).fetchall()
    return {"record": row[1], "head": [row[2], row[3]]}, batch(Entry(*one) for one in found)


def _refusals(app: Flask) -> None:
    """Give every error a sentence and a status; a later try may succeed after 503 only."""
    later = (ServerBusy, DatabaseError, FilesError, AuthorityError)
    for kind, status in (
        (NotEnrolledError, 403),
        (WireError, 400),
        (EnrolmentError, 400),
        *((one, 503) for one in later),
    ):
        app.register_error_handler(kind, lambda error, status=status: _refuse(status, error))
    app.register_error_handler(
        EnrolmentRefused, lambda error: _answer(403, {"error": str(error), **error.sentence.to_json()})
    )
    app.register_error_handler(Fork, lambda error: _answer(409, {"fork": error.seq, "error": str(error)}))
    for status, sentence in (
        (400, "The request cannot be read."),
        (404, "There is nothing here."),
        (405, "There is nothing here."),
        (413, "The body is too long."),
        (500, "The pit has failed; its log says why. The table keeps everything."),
    ):
        app.register_error_handler(
            status, lambda _, status=status, sentence=sentence: _refuse(status, PitError(sentence))
        )


def _refuse(status: int, error: Exception) -> Response:
    return _answer(status, {"error": str(error)})


def _answer(status: int, value: dict[str, Any]) -> Response:
    return Response(json.dumps(value), status, mimetype="application/json")
