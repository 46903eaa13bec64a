"""When the pit's signatures end: of its authority, on which every table hangs, of its pages, and of its tables' files.

The door's own and each table's are made after the authority's and last as long, so the authority's is the first to end;
tables look at no dates. The pages do not see the authority's folder: the door writes its certificate into the database.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography import x509

from dealer_ui.web.tls import CERTIFICATE
from firmware.messages import Message
from pit.files.offers import GOOD_UNTIL
from pit.store.database import Database
from pit.store.facts import fact

WARN_DAYS: Final = 60
"""Days before its end from which a certificate rings on the floor page, as the alert `CertificateEnds` does."""
WARN_FILES_DAYS: Final = 14
"""The same for the files: the door signs them again when half of their thirty days are over. It did not run."""
AUTHORITY: Final = "authority"
PAGES: Final = "pages"
FILES: Final = "files"
NEVER: Final = datetime.fromtimestamp(0, UTC)
"""The end of what was never signed, or cannot be signed now."""


@dataclass(frozen=True)
class End:
    """When a certificate ends, or what is signed. `name`: `AUTHORITY`, `PAGES` or `FILES`."""

    name: str
    at: datetime

    @property
    def words(self) -> Message:
        """What the floor page says of it, before and after."""
        day = self.at.date().isoformat()
        if self.name == FILES and self.at == NEVER:
            return Message(
                "The pit cannot sign what its tables may take: no table takes a file, now or soon. "
                "The log of feltwatch-pit says why."
            )
        if self.name == FILES:
            return Message(
                "What the pit signed for its tables is good until %(day)s, and was not signed again in time; "
                "after that no table takes a file. The log of feltwatch-pit says why.",
                day=day,
            )
        if self.name == AUTHORITY:
            return Message(
                "The certificate of the pit's authority is good until %(day)s; after that no table is let in. "
                "Make a new authority: the book says how.",
                day=day,
            )
        return Message(
            "The certificate of these pages is good until %(day)s; after that browsers warn. "
            "Make another: the book says how.",
            day=day,
        )


def ends(database: Database, folder: Path | None) -> tuple[End, ...]:
    """Return when the certificates end that this pit has, and what it signed for its tables.

    `folder`: where the service manager has put the pages' certificate; None where there is none, as on a loopback
    address. A pit whose door never ran has no authority yet. Raises DatabaseError.
    """
    found = []
    if written := fact(database, "authority"):
        found.append(End(AUTHORITY, _end(written.encode())))
        good_until = fact(database, GOOD_UNTIL)
        found.append(End(FILES, datetime.fromisoformat(good_until) if good_until else NEVER))
    if folder is not None and (folder / CERTIFICATE).exists():
        found.append(End(PAGES, _end((folder / CERTIFICATE).read_bytes())))
    return tuple(found)


def soon(found: tuple[End, ...], now_s: float) -> tuple[Message, ...]:
    """Return what is to be said of those that end soon, or have ended; `now_s` in seconds since 1970."""
    now = datetime.fromtimestamp(now_s, UTC)
    days = {FILES: WARN_FILES_DAYS}
    return tuple(one.words for one in found if (one.at - now).days < days.get(one.name, WARN_DAYS))


def _end(pem: bytes) -> datetime:
    return x509.load_pem_x509_certificate(pem).not_valid_after_utc
