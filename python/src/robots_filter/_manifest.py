"""The manifest of a table in shards."""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._errors import RobotsFilterError

MANIFEST = "manifest.json"
COPY_AGAIN = "Copy the whole directory again, or compile it again"

_FORMAT = "robots-filter shards"
_VERSION = 1
#: Magic, version, profile, length and checksum of a table.
_TABLE_HEAD = struct.Struct("<8s4I")
_TABLE_MAGIC = b"RFTABLE\x1a"
#: No release wrote version 10. Version 11 has histories.
_TABLE_VERSIONS = (7, 8, 9, 11)


@dataclass(frozen=True)
class Part:
    """A part of a table in shards."""

    #: Its name in the directory.
    file: str
    bytes: int
    #: The checksum in its header, in eight hexadecimal digits.
    checksum: str


def directory_of(path: str) -> str:
    """Return the directory of a table in shards for the path of its manifest, else the path."""
    return os.path.dirname(path) if os.path.basename(path) == MANIFEST else path


def parts_of(path: str) -> list[Part]:
    """Read the manifest in a directory, and check that its parts are there and are its own."""
    name = os.path.join(path, MANIFEST)
    try:
        with open(name, encoding="utf-8") as file:
            manifest = json.load(file)
    except FileNotFoundError:
        raise RobotsFilterError(
            f"{path}: a directory without {MANIFEST}. "
            "Name the directory that robots-filter compile --shards wrote"
        ) from None
    except (OSError, ValueError) as cause:
        raise RobotsFilterError(f"{name}: cannot be read ({cause}). {COPY_AGAIN}") from cause
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise RobotsFilterError(f"{name}: not a manifest of shards. {COPY_AGAIN}")
    if manifest.get("version") != _VERSION or manifest.get("hash") != "crc32":
        raise RobotsFilterError(
            f"{name}: of version {manifest.get('version')}, and this package reads "
            f"{_VERSION}. Install the version that wrote it, or compile it again"
        )
    stated = manifest.get("parts")
    if not isinstance(stated, list) or not stated or len(stated) != manifest.get("shards"):
        raise RobotsFilterError(f"{name}: damaged: its parts are not complete. {COPY_AGAIN}")
    parts = [_part(part, name) for part in stated]
    for part in parts:
        _check(os.path.join(path, part.file), part)
    return parts


def checksum_of(parts: Sequence[Part]) -> str:
    """Return the checksum of a table that has these parts, as the program computes it."""
    words = (int(part.checksum, 16).to_bytes(4, "little") for part in parts)
    return f"{zlib.crc32(b''.join(words)):08x}"


def _part(stated: Any, name: str) -> Part:
    try:
        part = Part(stated["file"], int(stated["bytes"]), f"{int(stated['checksum'], 16):08x}")
        if part.file == os.path.basename(part.file):
            return part
    except (TypeError, KeyError, ValueError):
        pass
    raise RobotsFilterError(f"{name}: damaged: a part is not described. {COPY_AGAIN}")


def _check(path: str, part: Part) -> None:
    """Check that a file is the part, without reading all of it."""
    try:
        with open(path, "rb") as file:
            head = file.read(_TABLE_HEAD.size)
            size = os.fstat(file.fileno()).st_size
    except OSError as cause:
        raise RobotsFilterError(
            f"{path}: cannot be read ({cause.strerror}). {COPY_AGAIN}"
        ) from cause
    if len(head) < _TABLE_HEAD.size or not head.startswith(_TABLE_MAGIC):
        raise RobotsFilterError(f"{path}: not a table of robots-filter. {COPY_AGAIN}")
    _, version, _, stated, found = _TABLE_HEAD.unpack(head)
    if version not in _TABLE_VERSIONS:
        raise RobotsFilterError(
            f"{path}: a table of version {version}, and this package reads "
            f"{', '.join(map(str, _TABLE_VERSIONS))}. Compile it again with this version"
        )
    if f"{found:08x}" != part.checksum or stated != size or part.bytes != size:
        raise RobotsFilterError(f"{path}: not the table that was named. {COPY_AGAIN}")
