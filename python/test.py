"""Build, install and test the Python package in a virtual environment: `npm run test:python`.

The environment is python/.venv. The wheel is built from what `npm pack` packs.
"""

from __future__ import annotations

import argparse

from environment import HERE, Environment, step

# Other versions of mypy and ruff may find other things.
TOOLS = [
    *("hatchling", "mypy==2.4.1", "pytest", "ruff==0.17.6"),
    *("duckdb", "numpy", "pandas", "polars", "pyarrow"),
]


def main() -> None:
    """Run everything that must hold; end with status 1 at the first thing that does not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--no-npm-build", action="store_true", help="pack dist/ as it is")
    parser.add_argument("tests", nargs="*", help="arguments for pytest")
    options = parser.parse_args()
    environment = Environment(HERE / ".venv")
    step("tools")
    environment.install(*TOOLS)
    step("style and types")
    environment.run("ruff", "format", "--check", ".")
    environment.run("ruff", "check", ".")
    step("wheel and sdist")
    environment.install_wheel(environment.build(npm_build=not options.no_npm_build))
    environment.run("mypy")
    environment.run("mypy", "--strict", "tests/typed_calls.py")
    step("tests")
    environment.run("pytest", *options.tests)


if __name__ == "__main__":
    main()
