"""Asks robots-filter about one URL at a time: one line in, one line out.

    python3 ask.py robots.table MyBot URL...
"""

import subprocess
import sys


class RobotsFilter:
    def __init__(self, table, agent, command=("robots-filter",)):
        words = [*command, "--quiet", "--table", table, "--agent", agent]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def verdict(self, url):
        # A newline or a tab would make two records of it, or none.
        line = url.encode().translate(None, b"\n\r\t").strip() or b"-"
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer.endswith(b"\n"):
            raise EOFError("robots-filter has ended; see its message on standard error")
        return answer.partition(b"\t")[0].decode()

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: ask.py TABLE AGENT URL...")
    table, agent, *urls = sys.argv[1:]
    robots = RobotsFilter(table, agent)
    for url in urls:
        print(robots.verdict(url), url)
    sys.exit(robots.close())
