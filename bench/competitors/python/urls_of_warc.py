"""Reads the URLs of WARC files by a library from PyPI, and decides none.

    urls_of_warc.py LIBRARY FILE...

LIBRARY is warcio or fastwarc. Prints one JSON object.
"""

import json
import sys

library, *paths = sys.argv[1:]
KINDS = ("response", "revisit", "resource", "conversion")

if library == "warcio":
    from warcio.archiveiterator import ArchiveIterator

    def urls(file):
        for record in ArchiveIterator(file, no_record_parse=True):
            if record.rec_type in KINDS:
                yield record.rec_headers.get_header("WARC-Target-URI")

else:
    from fastwarc.warc import ArchiveIterator, WarcRecordType

    def urls(file):
        kinds = WarcRecordType.no_type
        for kind in KINDS:
            kinds |= getattr(WarcRecordType, kind)
        for record in ArchiveIterator(file, parse_http=False, record_types=kinds):
            yield record.headers.get("WARC-Target-URI")


records = 0
length = 0
for path in paths:
    with open(path, "rb") as file:
        for url in urls(file):
            records += 1
            length += len(url)
print(json.dumps({"records": records, "urlBytes": length}))
