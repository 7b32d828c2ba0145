"""Build the wheel and the sdist of the Python package from what `npm pack` packs.

python python/build.py [--out DIR] [--no-npm-build]

It needs Node and npm, the packages of `npm ci`, and the module `hatchling`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PROGRAM = HERE / "src" / "robots_filter" / "_program"

#: What a program needs to run, and what its licences ask for.
RUNNING = {".js", ".cjs", ".mjs", ".json", ".wasm"}
LICENCES = ("licen", "notice", "copying")


def main() -> None:
    """Build the wheel and the sdist."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=HERE / "dist")
    parser.add_argument("--no-npm-build", action="store_true", help="pack dist/ as it is")
    options = parser.parse_args()
    collect_program(build=not options.no_npm_build)
    shutil.rmtree(options.out, ignore_errors=True)
    for name in ("LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, HERE / name)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(options.out.resolve())],
        cwd=HERE,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def collect_program(*, build: bool) -> None:
    """Put the packed program and the packages that it needs into the Python package."""
    with tempfile.TemporaryDirectory() as place:
        scripts = [] if build else ["--ignore-scripts"]
        subprocess.run(
            ["npm", "pack", "--silent", "--pack-destination", place, *scripts],
            cwd=ROOT,
            check=True,
            stdout=subprocess.DEVNULL,
        )
        (packed,) = Path(place).glob("*.tgz")
        with tarfile.open(packed) as archive:
            archive.extractall(place, filter="data")
        shutil.rmtree(PROGRAM, ignore_errors=True)
        copy_package(Path(place) / "package", PROGRAM)
    for path in needed_packages():
        copy_package(ROOT / path, PROGRAM / path)


def needed_packages() -> list[str]:
    """Return the places of the packages that `npm ci --omit=dev --omit=optional` installs."""
    lock = json.loads((ROOT / "package-lock.json").read_text())
    left_out = ("dev", "devOptional", "optional")
    return [
        path
        for path, package in lock["packages"].items()
        if path != "" and not any(package.get(kind) for kind in left_out)
    ]


def copy_package(source: Path, target: Path) -> None:
    """Copy a package without what does not run: types, tests' data, documents."""
    for path in sorted(source.rglob("*")):
        inner = path.relative_to(source)
        # Packages within a package have an entry of their own in the lock.
        if "node_modules" in inner.parts or not path.is_file():
            continue
        if path.suffix in RUNNING or path.name.lower().startswith(LICENCES):
            (target / inner).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / inner)


if __name__ == "__main__":
    main()
