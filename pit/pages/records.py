"""The review's pages over one record of the pit: `/record/<number>/review/…` is what `/review/…` is at a table.

Rows and images are the pit's (`pit.follow.reader`); a hand that lies on the table is in neither. Every look at a
hand is recorded, and asks the table for the hand's images if they are not here.
"""

from functools import partial
from typing import Any, Final

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    g,
    jsonify,
    redirect,
    request,
    send_file,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from dealer_ui.review.dispute_file import record_folder
from dealer_ui.review.routes import archive_of_record, number_of
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.view.live import Live
from dealer_ui.web.services import Services, services
from firmware.record.dispute_file import export_path, write_dispute_file
from firmware.record.evidence.signing import DeviceKey
from firmware.table.errors import CaptureError, TableError
from pit.follow.data_requests import request_data
from pit.follow.reader import PitCaptures, PitReader
from pit.follow.search import Record, record_of
from pit.log.proofs import proofs_of
from pit.pages import guard
from pit.pages.people import HANDS, record_act
from pit.pages.services import pit
from pit.status.freshness import SILENT_MS

blueprint = Blueprint("records", __name__)
PREFIX: Final = "/record/<int:record>"
_KINDS: Final = {"png": "image/png", "jpg": "image/jpeg"}
_REVIEW: Final = ("review", "dispute", "records")


def prepare(app: Flask) -> None:
    """Let the review's routes of an application read the record in the address; after who may open them is known."""
    app.url_value_preprocessor(_take_record)
    app.url_defaults(_give_record)
    app.before_request(_open_record)
    app.extensions["feltwatch-pit-records"] = {}


def _take_record(_endpoint: str | None, values: dict[str, Any] | None) -> None:
    if values and request.blueprint in _REVIEW:
        g.record = values.pop("record", None)


def _give_record(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint.partition(".")[0] in _REVIEW and g.get("record") is not None:
        values.setdefault("record", g.record)


def _open_record() -> AnyResponse | None:
    """Make the record in the address the request's; record the look at a hand."""
    number = g.get("record")
    if number is None:
        return None
    found = record_of(pit().database, number) if number < 1 << 62 else None
    if found is None:
        abort(404, _("There is no such record."))
    g.of_record, g.root = found, f"/record/{number}"
    _services(found).attach_here()
    if request.endpoint == "review.show_list":
        return redirect(url_for("hands.show_list", table=found.table))
    hand = request.view_args.get("hand") if request.view_args else None
    if hand is not None and request.endpoint != "records.pictures":
        record_act(pit().database, guard.current_person(), request.endpoint or "", number, number_of(hand))
        _wish(found, number_of(hand))
    return None


def _services(record: Record) -> Services:
    """Return the services of one record, made once."""
    known: dict[int, Services] = current_app.extensions["feltwatch-pit-records"]
    if record.record_id not in known:
        served, base = pit(), services(current_app._get_current_object())  # type: ignore[attr-defined]
        reader = PitReader(served.database, record.record_id)
        folder = served.folder / "records" / str(record.record_id)
        known[record.record_id] = Services(
            live=Live(reader, lambda: None),
            reader=reader,
            link=base.link,
            captures=PitCaptures(reader, served.files, folder),
            streams=base.streams,
            kiosk=base.kiosk,
            messages=base.messages,
            sessions=base.sessions,
            tallies=base.tallies,
        )
    return known[record.record_id]


def _captures() -> PitCaptures:
    store = services().captures
    assert isinstance(store, PitCaptures)
    return store


def _wish(record: Record, hand: int) -> None:
    """Ask the table for the images of a hand that are not here."""
    store = _captures()
    lacking = [(name, digest) for name, digest in store.named(hand).items() if not store.has(digest)]
    if lacking:
        with pit().database.transaction() as connection:
            request_data(connection, record.record_id, "image", lacking)


class Pictures:
    """How many images of a hand are here, of how many that the table may still have."""

    def __init__(self, record: Record, hand: int) -> None:
        store = _captures()
        named = store.named(hand)
        here = {digest for digest in named.values() if store.has(digest)}
        lacking = [digest for digest in named.values() if digest not in here]
        with pit().database.transaction() as connection:
            (gone,) = connection.execute(
                "SELECT count(*) FROM wish WHERE table_id = %s AND hash = ANY(%s) AND missing",
                (record.table_id, lacking),
            ).fetchone() or (0,)
            row = connection.execute(
                "SELECT extract(epoch FROM now() - heard_at) * 1000 FROM head WHERE record_id = %s",
                (record.record_id,),
            ).fetchone()
        self.here, self.of = len(here), len(named) - gone
        self.is_off = row is None or row[0] > SILENT_MS

    @property
    def words(self) -> str:
        """Say that images are on their way, or when they will be; "" if all are here."""
        if self.here >= self.of:
            return ""
        if self.is_off:
            return _("The table is off: its pictures come when it is back.")
        return _("Pictures come from the table: %(here)s of %(of)s are here.", here=self.here, of=self.of)


def pictures_of(hand: int) -> Pictures:
    """Return the images of the request's record that are here."""
    return Pictures(g.of_record, hand)


@blueprint.get(f"{PREFIX}/captures/<path:name>")
@guard.open_to(HANDS)
def capture(name: str) -> Response:
    """Return an image of a finished hand, once its table has sent it."""
    try:
        return send_file(services().captures.path(name), mimetype=_KINDS[name[-3:]])
    except (CaptureError, OSError, KeyError):
        abort(404, _("There is no such picture; it may have been taken off the disk by the retention rules."))


@blueprint.get(f"{PREFIX}/review/<hand>/pictures")
@guard.open_to(HANDS)
def pictures(hand: str) -> Response:
    """Return how many images of a hand are here."""
    found = pictures_of(number_of(hand))
    return jsonify(here=found.here, of=found.of, words=found.words)


@blueprint.post(f"{PREFIX}/review/<hand>/make-file")
@guard.open_to(HANDS)
def make_file(hand: str) -> AnyResponse:
    """Make a hand's dispute file here, with every image that the table still has, signed by the pit's own key."""
    from dealer_ui.reports.dispute_pdf import dispute_pdf  # slow import, rarely needed

    number = number_of(hand)
    found = pictures_of(number)
    if found.words:
        abort(409, found.words)
    out = export_path(record_folder(), number)
    try:
        out.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        key = DeviceKey.open(pit().folder / "key")
        served = services()
        page = partial(dispute_pdf, record_folder(), reader=served.reader, store=served.captures)
        proofs = partial(proofs_of, pit().database, g.of_record.record_id)
        write_dispute_file(archive_of_record(), number, key, out, lambda number: page(number), proofs)
    except (TableError, OSError) as error:
        abort(503, say(error) if isinstance(error, TableError) else _("The disk cannot be written."))
    return redirect(url_for("dispute.dispute", hand=number), 303)
