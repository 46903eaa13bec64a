"""When the pit's certificates end: that of its authority, on which every table hangs, and that of its pages.

The door's own and each table's are made after the authority's and last as long, so the authority's is the first to end;
tables look at no dates. The pages do not see the authority's folder: the door writes its certificate into the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography import x509

from dealer_ui.remote.tls import CERTIFICATE
from firmware.messages import Message
from firmware.pit.database import Database
from firmware.pit.enrolment import fact

WARN_DAYS: Final = 60
"""Days before its end from which a certificate rings on the floor page, as the alert `CertificateEnds` does."""
AUTHORITY: Final = "authority"
PAGES: Final = "pages"


@dataclass(frozen=True)
class End:
    """When a certificate ends. `name`: `AUTHORITY` or `PAGES`."""

    name: str
    at: datetime

    @property
    def words(self) -> Message:
        """What the floor page says of it, before and after."""
        day = self.at.date().isoformat()
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
    """Return when the certificates end that this pit has.

    `folder`: where the service manager has put the pages' certificate; None where there is none, as on a loopback
    address. A pit whose door never ran has no authority yet. Raises DatabaseError.
    """
    found = []
    if written := fact(database, "authority"):
        found.append(End(AUTHORITY, _end(written.encode())))
    if folder is not None and (folder / CERTIFICATE).exists():
        found.append(End(PAGES, _end((folder / CERTIFICATE).read_bytes())))
    return tuple(found)


def soon(found: tuple[End, ...], now_s: float) -> tuple[Message, ...]:
    """Return what is to be said of those that end within `WARN_DAYS`, or have ended; `now_s` in seconds since 1970."""
    now = datetime.fromtimestamp(now_s, UTC)
    return tuple(one.words for one in found if (one.at - now).days < WARN_DAYS)


def _end(pem: bytes) -> datetime:
    return x509.load_pem_x509_certificate(pem).not_valid_after_utc
