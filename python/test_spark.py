"""Run `robots_filter.spark` on a cluster of Spark on this machine: `npm run test:spark`.

For each line of PySpark it makes a virtual environment in python/.venv-spark with PySpark and the
wheel of this clone, and runs spark/checks.py in it. Spark needs Java 17 or later. Without Java it
ends with status 75, "try again later".
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from environment import HERE, UNREACHABLE, Environment, step

#: The lines of PySpark that are supported, the newest last.
PYSPARK = ["3.5.9", "4.3.0"]
#: Numbers of URLs: usually, and with --quick.
URLS, FEW_URLS = 2_000_000, 2_000


def main() -> None:
    """Make the environments, build the wheel, run the checks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--pyspark",
        action="append",
        help=f"version; repeatable (default: {' and '.join(PYSPARK)})",
    )
    parser.add_argument("--urls", type=int, help=f"number of URLs (default: {URLS:,})")
    parser.add_argument(
        "--quick",
        action="store_true",
        help=f"only PySpark {PYSPARK[-1]}, {FEW_URLS:,} URLs, and the checks that matter most",
    )
    parser.add_argument(
        "--check", action="append", default=[], help="only checks with this word; repeatable"
    )
    parser.add_argument("--no-npm-build", action="store_true", help="pack dist/ as it is")
    options = parser.parse_args()
    if shutil.which("java") is None:
        print("Spark needs Java 17 or later, and there is no java. Install one, such as openjdk")
        sys.exit(UNREACHABLE)
    versions = options.pyspark or (PYSPARK[-1:] if options.quick else PYSPARK)
    urls = options.urls or (FEW_URLS if options.quick else URLS)
    quick = ["--quick"] if options.quick else []
    wheel: Path | None = None
    for version in versions:
        step(f"PySpark {version}")
        environment = Environment(HERE / ".venv-spark" / version)
        # Spark Connect of 3.5 asks for NumPy 1, which later versions of pyarrow refuse.
        pyarrow = "pyarrow<25" if version.startswith("3.") else "pyarrow"
        environment.install("hatchling", "pandas<3", pyarrow, f"pyspark[connect]=={version}")
        if wheel is None:
            # Not in dist: test.py may run at the same time, and installs its own wheel from there.
            out = HERE / ".venv-spark" / "dist"
            wheel = environment.build(npm_build=not options.no_npm_build, out=out)
        environment.install_wheel(wheel)
        chosen = [word for name in options.check for word in ("--check", name)]
        words = ["spark/checks.py", "--urls", str(urls), *quick, *chosen]
        environment.run("python", *words)


if __name__ == "__main__":
    main()
