"""Compile the templates of the table's page, as the installation does: python -m dealer_ui.server.compile_templates"""

import os
from contextlib import suppress
from pathlib import Path

from jinja2 import TemplateAssertionError

from dealer_ui.server.app import Settings, create_app


def main() -> None:
    """Keep what this user may; templates of other pages, with filters of their own, are compiled there."""
    environment = create_app(Settings(Path(os.devnull), Path(os.devnull))).jinja_env
    for name in environment.list_templates(extensions=["html"]):
        with suppress(TemplateAssertionError):
            environment.get_template(name)


if __name__ == "__main__":
    main()
