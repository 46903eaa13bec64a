"""The PDF in a dispute file; its libraries are loaded when the first one is made."""

from pathlib import Path


def dispute_pdf(data: Path, hand: int) -> bytes:
    """Return a past hand as a PDF. Raises CommandRefused, JournalError."""
    from dealer_ui.reports import dispute_pdf as reports

    return reports.dispute_pdf(data, hand)
