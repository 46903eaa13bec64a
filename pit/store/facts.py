"""What the pit knows of itself: named texts in the database, for pages that may not see its folder."""

from pit.store.database import Connection, Database


def set_fact(connection: Connection, name: str, value: str) -> None:
    """Set what the pit knows of itself."""
    connection.execute(
        "INSERT INTO house_fact VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        " WHERE house_fact.value <> excluded.value",
        (name, value),
    )


def fact(database: Database, name: str) -> str:
    """Return a fact that the pit stores about itself; "" if there is none of this name."""
    with database.transaction() as connection:
        row = connection.execute("SELECT value FROM house_fact WHERE name = %s", (name,)).fetchone()
    return str(row[0]) if row else ""
