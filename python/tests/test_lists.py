from __future__ import annotations

import itertools
import random
import subprocess
import warnings
from pathlib import Path

import pytest

from robots_filter import (
    Judgement,
    RobotsFilterError,
    RobotsFilterWarning,
    Table,
    UsageError,
    command,
)

URLS = [
    "https://shop.example/tea",
    "https://shop.example/?sort=up",
    "https://shop.example/cart/help",
    "https://blog.example/essays/1",
    "https://new.example/",
    "no url",
]
VERDICTS = ["allow", "deny", "allow", "deny", "unknown", "invalid"]


def test_verdicts_of_one_agent(table: Table) -> None:
    assert table.verdicts(URLS, "GPTBot") == VERDICTS
    assert table.verdicts(tuple(URLS), "GPTBot") == VERDICTS
    assert table.verdicts([], "GPTBot") == []
    assert table.verdicts([None, URLS[0].encode(), None], "*") == [None, "allow", None]
    assert (table.profile, table.hosts) == ("rfc9309", 3)


def test_verdicts_of_several_agents(table: Table) -> None:
    assert table.verdicts([URLS[3], None], ["GPTBot", "Other>*"]) == [
        {"GPTBot": "deny", "Other>*": "allow"},
        None,
    ]
    assert table.verdicts([], ["GPTBot"]) == []


def test_explanations(table: Table) -> None:
    assert table.verdicts([*URLS[:3], None], "GPTBot", explain=True) == [
        Judgement("allow", "no-rule", None, None),
        Judgement("deny", "rule", 4, "Disallow: /*?sort="),
        Judgement("allow", "rule", 3, "Allow: /cart/help"),
        None,
    ]
    both = table.verdicts([URLS[3]], ["GPTBot", "*"], explain=True)
    assert both[0]["GPTBot"].rule == "Disallow: /essays/"
    assert both[0]["*"] == ("allow", "no-rule", None, None)
    assert table.verdict(URLS[5], "GPTBot") == ("invalid", "invalid-url", None, None)


def test_texts_of_rules_in_many_requests(table: Table) -> None:
    # One request has 65,536 / 2 URLs at most, so each agent has several lists of texts.
    urls = [f'https://texts.example/{number % 300}/"é\\{number % 300}' for number in range(70_000)]
    for row, number in zip(
        table.verdicts(urls, ["*", "GPTBot"], explain=True), itertools.count(), strict=False
    ):
        rule = number % 300
        # The URL Standard reads a backslash as a slash, and the rule has a backslash.
        assert row["*"] == row["GPTBot"]
        assert row["*"].verdict in ("allow", "deny"), (rule, row)
    denied = table.verdict("https://texts.example/7/%22%C3%A9%5C7", "*")
    assert denied == ("deny", "rule", 9, 'Disallow: /7/"é\\7')


@pytest.mark.parametrize(
    "url",
    [
        "https://blog.example/old\nhttps://shop.example/",
        "https://blog.example/o\tld\r\n",
        "https://blog.example/old\0",
        "https://blog.example/old/\ud800",
        b"https://blog.example/old/\xff\xfe",
        "\0 https://blog.example/old \n",
    ],
)
def test_one_url_whatever_it_holds(table: Table, url: str | bytes) -> None:
    assert table.verdicts([url, URLS[0], url], "*") == ["deny", "allow", "deny"]


def test_lone_surrogates_are_replaced_as_node_does(table: Table) -> None:
    # A question mark in its place would begin a query.
    assert table.verdict("https://shop.example/\ud800sort=", "*").verdict == "allow"


@pytest.mark.parametrize("length", [2**19 - 1, 2**19, 2**19 + 1, 2**21, 2**24 - 1, 2**24])
def test_long_urls_are_judged(table: Table, length: int) -> None:
    start = "https://blog.example/old"
    url = start + "x" * (length - len(start))
    assert table.verdicts([URLS[0], url, URLS[0]], "*") == ["allow", "deny", "allow"]


@pytest.mark.parametrize("length", [2**24 + 1, 2**24 + 2, 2**25])
def test_longer_urls_are_invalid(table: Table, length: int) -> None:
    url = b"https://blog.example/old".ljust(length, b"x")
    judged = table.verdicts([URLS[0], url, URLS[0]], "*", explain=True)
    assert [each.reason for each in judged if each] == ["no-rule", "line-too-long", "no-rule"]


def test_any_split_gives_the_same(table: Table) -> None:
    random_source = random.Random(1)
    urls = []
    for _ in range(3_000):
        start = random_source.choice(["", "essays/", "cart/", "cart/help", "?sort=", "old"])
        characters = "/abcessays?=&%é\n\t \0"
        path = "".join(random_source.choices(characters, k=random_source.randrange(900)))
        host = random_source.choice(["shop", "blog", "new", "x y"])
        urls.append(f"https://{host}.example/{start}{path}")
    assert sum(map(len, urls)) > 2 * 2**19
    whole = table.verdicts(urls, "GPTBot", explain=True)
    assert len({each.reason for each in whole if each}) >= 4
    # Pieces of other lengths, and the agent among others.
    pieces = [urls[at : at + 977] for at in range(0, len(urls), 977)]
    assert [
        each for piece in pieces for each in table.verdicts(piece, "GPTBot", explain=True)
    ] == whole
    agents = [f"Agent-{'a' * number}" for number in range(40)] + ["GPTBot"]
    assert [row["GPTBot"] for row in table.verdicts(urls, agents, explain=True)] == whole


def test_equal_to_the_command_line(table: Table, table_path: Path) -> None:
    lines = [
        *URLS[:5],
        "https://shop.example/%63art/x",
        "HTTPS://BLOG.EXAMPLE/old",
        "ftp://new.example/",
    ]
    ended = subprocess.run(
        [*command(), "--table", str(table_path), "-a", "GPTBot,*", "--format", "verdicts", "-q"],
        input="\n".join(lines).encode(),
        capture_output=True,
        check=True,
    )
    rows = [",".join(row.values()) for row in table.verdicts(lines, ["GPTBot", "*"])]
    assert ended.stdout.decode().splitlines() == rows


def test_filter(table: Table) -> None:
    assert list(table.filter(URLS, "GPTBot")) == [URLS[0], URLS[2]]
    assert list(table.filter(iter(URLS), ["*", "GPTBot"], unknown="allow", batch_size=1)) == [
        URLS[0],
        URLS[2],
        URLS[4],
    ]
    records = [{"u": url} for url in [*URLS, None]]
    assert list(table.filter(records, "GPTBot", url=lambda record: record["u"])) == [
        {"u": URLS[0]},
        {"u": URLS[2]},
    ]


def test_filter_reads_no_more_than_a_batch_ahead(table: Table) -> None:
    taken = itertools.count()
    endless = (URLS[0] for _ in taken)
    passed = table.filter(endless, "GPTBot", batch_size=10)
    assert next(passed) == URLS[0]
    assert next(taken) == 10
    # An abandoned generator leaves the table usable.
    del passed
    assert table.verdicts(URLS, "GPTBot") == VERDICTS


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda table: table.verdicts("https://a.example/", "A"), "urls is one URL"),
        (lambda table: table.verdicts(iter(URLS), "A"), "filter takes any iterable"),
        (lambda table: table.verdicts({1}, "A"), "urls is of type set"),
        (lambda table: table.verdicts([*URLS * 5000, 7], "A"), "URL 30000 is of type int"),
        (lambda table: table.verdicts([], "Bad Bot"), "it has spaces"),
        (
            lambda table: table.verdicts(URLS, "Mozilla/5.0 (compatible; GPTBot/1.0)"),
            "product token",
        ),
        (lambda table: table.verdicts(URLS, []), "agents is empty"),
        (lambda table: table.verdicts(URLS, ["A", 7]), "an agent is of type int"),
        (lambda table: table.verdicts(URLS, None), "agents is of type NoneType"),
        (lambda table: table.verdicts(URLS, ["A", "A"]), "twice"),
        (lambda table: table.verdicts(URLS, ["gptbot", "GPTBot"]), "are the same agent"),
        (lambda table: table.verdicts(URLS, ["A>B", "a > b"]), "are the same agent"),
        (lambda table: table.verdicts(URLS, ["A1", "a.b"]), "both are judged as a"),
        (lambda table: table.verdicts(URLS, ["A" * 70_000]), "at most 65536 bytes"),
        (
            lambda table: table.verdicts(URLS, ["A-" + "b" * i for i in range(257)]),
            "1 to 256 agents",
        ),
        (lambda table: table.verdict(["https://a.example/"], "A"), "use verdicts"),
        (lambda table: table.verdict("https://a.example/", ["A"]), "the agent is of type list"),
        (lambda table: table.filter("https://a.example/", "A"), "items is one URL"),
        (lambda table: table.filter(URLS, "Bad Bot"), "it has spaces"),
        (lambda table: table.filter(URLS, "A", unknown="maybe"), "'allow' or 'deny'"),
        (lambda table: table.filter(URLS, "A", batch_size=0), "from 1 on"),
        (lambda table: Table.open(7), "needs a path, not int"),
        (lambda table: Table.open(""), "cannot use the path ''"),
        (lambda table: Table.open("x", threads=0), "from 1 on"),
        (lambda table: Table.compile([]), "nothing to compile"),
    ],
)
def test_wrong_arguments_are_refused_with_a_remedy(
    table: Table, call: object, message: str
) -> None:
    with pytest.raises(UsageError) as raised:
        call(table)  # type: ignore[operator]
    assert message in str(raised.value)
    # The process goes on.
    assert table.verdicts(URLS, "GPTBot") == VERDICTS


def test_wrong_files_are_refused_with_a_remedy(robots: Path, tmp_path: Path) -> None:
    with pytest.raises(RobotsFilterError, match=r"missing.table: no such file. Check the spelling"):
        Table.open(tmp_path / "missing.table")
    (tmp_path / "other").write_text("other")
    with pytest.raises(RobotsFilterError, match="other"):
        Table.open(tmp_path / "other")
    with pytest.raises(RobotsFilterError, match=r"is a directory"):
        Table.open(robots)
    with pytest.raises(RobotsFilterError, match=r"missing: cannot be read"):
        Table.compile(tmp_path / "missing")
    with pytest.raises(RobotsFilterError, match=r"--profile"):
        Table.compile(robots, tmp_path / "t", profile="other")  # type: ignore[arg-type]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other"]


def test_compile_with_options(robots: Path, tmp_path: Path) -> None:
    (tmp_path / "newer").mkdir()
    (tmp_path / "newer" / "shop.example").write_text("User-agent: GPTBot\nDisallow: /\n")
    sources = [robots, str(tmp_path / "newer")]
    with Table.compile(sources, agents=["GPTBot"], profile="google") as table:
        assert table.profile == "google"
        assert table.verdicts(URLS[:1], "GPTBot") == ["deny"]
        with pytest.raises(UsageError, match="compiled for some agents only"):
            table.verdicts(URLS, "CCBot")
        place = Path(table._path)
        assert place.exists()
    assert not place.exists()


def test_a_misspelt_agent_is_warned_of(table_path: Path) -> None:
    with Table.open(table_path) as table:
        with pytest.warns(RobotsFilterWarning, match=r"GTPBot.* Did you mean GPTBot\?") as warned:
            assert table.verdicts(URLS, ["GTPBot", "Other"])[3] == {
                "GTPBot": "allow",
                "Other": "allow",
            }
        assert [warning.filename for warning in warned] == [__file__]
        # Once for each process, and not for agents that may be meant.
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table.verdicts(URLS, ["GTPBot", "Other"])
            for agent in ("GPTBot", "gptbot", "CCBot", "Mine", "*", "Other>GPTBot"):
                table.verdict(URLS[0], agent)
            with pytest.raises(RobotsFilterWarning, match="GPTBott"):
                table.verdict(URLS[3], "GPTBott")
            assert table.verdict(URLS[3], "GPTBott").verdict == "allow"


def test_a_table_without_hosts(tmp_path: Path) -> None:
    with Table.compile(tmp_path) as table:
        assert table.hosts == 0
        assert table.verdicts(URLS[:1], "GPTBot") == ["unknown"]


def test_the_command_is_the_program() -> None:
    ended = subprocess.run(["robots-filter", "--version"], capture_output=True, check=True)
    assert ended.stdout.strip() != b""
    assert subprocess.run([*command(), "--version"], capture_output=True).stdout == ended.stdout
    failed = subprocess.run(["robots-filter", "--nonsense"], capture_output=True)
    assert failed.returncode == 2
    assert b"--nonsense" in failed.stderr
