"""Compiling a table with the command line."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping

from ._errors import RobotsFilterError, UsageError
from ._paths import PathLike, path_of
from ._question import question_of


def words_of(
    paths: PathLike | Iterable[PathLike],
    agents: object,
    options: Mapping[str, str | None],
) -> list[str]:
    """Return the words of `robots-filter compile`, without the output.

    An option of None is left out. `agents` of None are all agents.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    sources = [path_of("Table.compile", path) for path in paths]
    if not sources:
        raise UsageError("there is nothing to compile. Pass a directory of robots.txt files")
    # `hosts` says whether the table has any.
    words = ["compile", "--allow-empty"]
    for name, value in options.items():
        if value is not None:
            words += [name, value]
    for agent in () if agents is None else question_of(agents).agents:
        words += ["--agent", agent]
    for source in sources:
        words += ["--robots-dir", source]
    return words


class TemporaryTable:
    """The file of a table that is deleted with this object, or by `delete`."""

    def __init__(self) -> None:
        """Make a directory for it."""
        try:
            place = tempfile.mkdtemp(prefix="robots-filter-")
        except OSError as cause:
            raise RobotsFilterError(
                f"no temporary directory can be made: {cause.strerror or cause}. Pass output, "
                "the file to write, or set TMPDIR to a directory with room"
            ) from cause
        self.path = os.path.join(place, "robots.table")
        self._delete = weakref.finalize(self, _delete, place, os.getpid())

    def delete(self) -> None:
        """Delete the file."""
        self._delete()


def _delete(place: str, pid: int) -> None:
    """Delete a directory, unless this is a child by fork: the parent still uses it."""
    if os.getpid() == pid:
        shutil.rmtree(place, ignore_errors=True)
