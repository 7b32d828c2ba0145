"""Random archives for checks.py: redirects across hosts, files and pages, revisits, ties."""

from __future__ import annotations

import gzip
import hashlib
import random
from pathlib import Path


def write_archives(place: Path, files: int, captures: int, hosts: int) -> list[str]:
    """Write WARC files, each with some captures of a few hosts; return their paths."""
    draw = random.Random(29)
    place.mkdir()
    #: URL, date and digest of captures that a revisit may refer to.
    past: list[tuple[str, str, str]] = []

    def robots() -> str:
        return f"{draw.choice(['http', 'https'])}://h{draw.randrange(hosts)}.example/robots.txt"

    def page() -> str:
        return f"https://h{draw.randrange(hosts)}.example/page{draw.randrange(3)}"

    def drawn() -> bytes:
        is_robots = draw.random() < 0.7
        url = robots() if is_robots else page()
        date = f"2025-01-{draw.randrange(1, 13):02}T00:00:00Z"
        kind = draw.random()
        if kind < 0.4:
            number = draw.randrange(300)
            body = f"user-agent: *\ndisallow: /{number}\n"
            if number % 3 == 0:
                body += f"content-usage: /{number % 10} train-ai=n\n"
            digest = f"sha1:{hashlib.sha1(body.encode()).hexdigest()}"
            # Revisits refer to robots.txt files only.
            if is_robots:
                past.append((url, date, digest))
            return record("response", url, date, reply(200, body), digest if is_robots else "")
        if kind < 0.75:
            target = page() if draw.random() < 0.5 else robots()
            return record("response", url, date, reply(draw.choice([301, 302, 308]), "", target))
        if kind < 0.85 and past:
            referred, referred_date, digest = draw.choice(past)
            if draw.random() < 0.5:
                return record("revisit", url, date, reply(200), digest)
            status = draw.choice([200, 304])
            return record("revisit", url, date, reply(status), "", (referred, referred_date))
        return record("response", url, date, reply(draw.choice([403, 404, 500])))

    paths = []
    for number in range(files):
        path = place / f"{number:03}.warc.gz"
        path.write_bytes(b"".join(gzip.compress(drawn(), 1) for _ in range(captures)))
        paths.append(str(path))
    return paths


def record(
    kind: str, url: str, date: str, block: bytes, digest: str = "", refers: tuple[str, ...] = ()
) -> bytes:
    """Return the bytes of a record."""
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": "<urn:uuid:00000000-0000-0000-0000-000000000000>",
        "WARC-Date": date,
        "WARC-Target-URI": url,
        "WARC-Payload-Digest": digest,
        **dict(zip(("WARC-Refers-To-Target-URI", "WARC-Refers-To-Date"), refers, strict=False)),
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(block)),
    }
    lines = [f"{name}: {value}\r\n" for name, value in fields.items() if value]
    return b"".join([b"WARC/1.0\r\n", "".join(lines).encode(), b"\r\n", block, b"\r\n\r\n"])


def reply(status: int, body: str = "", location: str = "") -> bytes:
    """Return the bytes of an HTTP response."""
    field = f"Location: {location}\r\n" if location else ""
    return f"HTTP/1.1 {status} Reason\r\n{field}\r\n{body}".encode()
