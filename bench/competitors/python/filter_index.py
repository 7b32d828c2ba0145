"""Filters an index by a list of sites, as filter_cdx of cdx_toolkit does, with its matcher.

    filter_index.py SITES INDEX OUTPUT

Compares prefixes of the key of each line, and knows no robots.txt. Prints one JSON object.
"""

import json
import sys

from url_is_in import SURTMatcher

sites, index, output = sys.argv[1:]
with open(sites) as file:
    matcher = SURTMatcher([line.strip() for line in file])
lines = 0
kept = 0
with open(index) as file, open(output, "w") as out:
    for line in file:
        lines += 1
        if matcher.is_in(line[: line.find(" ")]):
            out.write(line)
            kept += 1
print(json.dumps({"lines": lines, "kept": kept}))
