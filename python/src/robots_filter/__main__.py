"""The command line `robots-filter`: the same program, in the place of this process."""

from __future__ import annotations

import os
import sys

from ._errors import RobotsFilterError
from ._program import command


def main() -> None:
    """Run the bundled program with the arguments of this process."""
    try:
        words = command()
    except RobotsFilterError as error:
        sys.exit(f"robots-filter: {error}")
    os.execv(words[0], [*words, *sys.argv[1:]])


if __name__ == "__main__":
    main()
