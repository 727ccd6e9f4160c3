"""Numbered plain SQL for each database: a file is never changed once it is released."""

from __future__ import annotations

from importlib import resources

from ...errors import StoreError


def scripts(database: str) -> list[tuple[int, str]]:
    """All scripts for a database, in order, with their numbers from 1."""
    folder = resources.files(__name__) / database
    found = sorted((int(file.name[:3]), file.read_text()) for file in folder.iterdir() if file.name.endswith(".sql"))
    assert [number for number, _ in found] == list(range(1, len(found) + 1))
    return found


def missing(database: str, applied: int) -> list[tuple[int, str]]:
    """The scripts that a database lacks, given the number of applied ones; a newer database is refused."""
    known = scripts(database)
    if applied > len(known):
        raise StoreError(
            f"the database has version {applied}, of a later askwhen; this one knows versions up to {len(known)}: "
            "use the later one, or restore the backup that it made before.",
            owner="serve",
        )
    return known[applied:]
