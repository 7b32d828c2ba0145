"""What must hold for `robots_filter.spark` on a cluster: test_spark.py runs it."""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import compile_warc
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from archives import write_archives
from cluster import LOOPBACK, Cluster, connect_server
from data import (
    HISTORY_START,
    HISTORY_STEP,
    HOSTS,
    SHARDS,
    host_of,
    texts_of,
    urls_of,
    write_histories,
    write_signals,
    write_table,
)
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from robots_filter import RobotsFilterError, Table, UsageError, command
from robots_filter.spark import filter_urls, register

AGENTS = ["GPTBot", "CCBot>GPTBot", "*"]
PARQUET_FILES = 6
#: Seconds for which a task stands still, and after which a second copy may start.
STALL, SECOND_COPY = 600, 10


class Checks:
    """A table, URLs, their verdicts by one process, and a session on the cluster."""

    def __init__(
        self, place: Path, spark: SparkSession, cluster: Cluster, urls: int, *, quick: bool
    ) -> None:
        self.quick = quick
        self.place = place
        self.spark = spark
        self.cluster = cluster
        self.table = str(place / "robots.table")
        self.shards = str(place / "shards")
        write_table(place)
        rows = urls_of(urls)
        for part in range(PARQUET_FILES):
            start, end = (at * urls // PARQUET_FILES for at in (part, part + 1))
            (place / "urls").mkdir(exist_ok=True)
            pq.write_table(rows.slice(start, end - start), place / "urls" / f"{part}.parquet")
        started = time.monotonic()
        with Table.open(self.table) as table:
            judged = table.verdicts(rows.column("url"), AGENTS, explain=True)
        self.alone_seconds = time.monotonic() - started
        self.expected = rows.add_column(2, "verdict", texts_of(judged, AGENTS, "verdict"))
        self.expected = self.expected.add_column(3, "reason", texts_of(judged, AGENTS, "reason"))
        verdicts = pc.unique(self.expected.flatten().column("verdict.*")).to_pylist()
        assert {*verdicts} == {"allow", "deny", "unknown", "invalid", None}, verdicts

    @property
    def df(self) -> DataFrame:
        """The URLs."""
        return self.spark.read.parquet(str(self.place / "urls"))

    def judged(self, df: DataFrame, **options: Any) -> DataFrame:
        """The URLs with their verdicts and reasons."""
        table = options.pop("table", self.shards)
        return filter_urls(df, table=table, agents=AGENTS, explain=True, **options)

    def is_expected(self, judged: DataFrame) -> None:
        """Check that the rows are those of the single process, each once."""
        # Written and read again: to collect them, each task would hold all of its rows.
        output = str(self.place / "output")
        judged.write.mode("overwrite").parquet(output)
        found = pq.read_table(output).sort_by("id")
        assert found.column_names == self.expected.column_names, found.schema
        assert len(found) == len(self.expected), (len(found), len(self.expected))
        for one, other in zip(found.flatten(), self.expected.flatten(), strict=True):
            # Nulls are equal to nulls, and to nothing else.
            if not one.equals(other):
                pairs = zip(one.to_pylist(), other.to_pylist(), strict=True)
                row, pair = next(
                    (row, pair) for row, pair in enumerate(pairs) if pair[0] != pair[1]
                )
                raise AssertionError((self.expected.slice(row, 1).to_pylist(), *pair))

    def slow(self) -> DataFrame:
        """The URLs, so slowly that something can be killed meanwhile."""

        # Few rows are few batches.
        pause = 0.1 if len(self.expected) > 10_000 else 1.0

        def wait(batches: Any) -> Any:
            for batch in batches:
                time.sleep(pause)
                yield batch

        df = self.df.repartition(8)
        return df.mapInArrow(wait, df.schema)

    # ---- what must hold

    def check_equal_whatever_the_partitioning(self) -> None:
        """The table whole, by shard and shipped, in few tasks and in many."""
        self.is_expected(self.judged(self.df.repartition(7), table=self.table, ship=True))
        if self.quick:
            self.is_expected(self.judged(self.df, by_shard=True, tasks=3))
            return
        self.is_expected(self.judged(self.df.coalesce(1), table=self.table))
        for tasks in (1, 9):
            self.is_expected(self.judged(self.df, by_shard=True, tasks=tasks))

    def check_parquet_of_spark_gets_its_verdicts(self) -> None:
        """Spark believes the schema that it wrote into a file, and not the file."""
        source = str(self.place / "written")
        rows = [(f"https://h1.example/{name}", name) for name in "ab"]
        frame = self.spark.createDataFrame(rows, ["url", "name"]).coalesce(1)
        frame.write.partitionBy("name").parquet(source)
        target = str(self.place / "judged.parquet")
        words = [*command(), "-q", "--table", self.table, "-a", "GPTBot,CCBot", "-o", target]
        subprocess.run([*words, source], check=True)
        read = self.spark.read.parquet(target)
        assert read.columns == ["url", "name", "verdict_GPTBot", "verdict_CCBot"], read.columns
        assert [row["name"] for row in read.sort("url").collect()] == ["a", "b"]
        # As an index, a column of pandas stays one.
        pandas = frame.toPandas().set_index("name")
        pandas.to_parquet(self.place / "pandas.parquet")
        subprocess.run([*words, str(self.place / "pandas.parquet")], check=True)
        table = pq.read_table(target).to_pandas()
        assert table.index.name == "name", table
        assert [*table.columns] == ["url", "verdict_GPTBot", "verdict_CCBot"], table

    def check_replaced_table_is_opened_anew(self) -> None:
        """Workers live on between jobs, and the second table has the path of the first."""
        rows = [(f"https://h.example/{name}",) for name in "ab"]
        urls = self.spark.createDataFrame(rows, ["url"])
        source = self.place / "h.ndjson"
        target = self.place / "replaced.table"
        for denied in "aba":
            record = {"host": "h.example", "robots": f"User-agent: *\nDisallow: /{denied}\n"}
            source.write_text(json.dumps(record) + "\n")
            words = [*command(), "compile", "-q", "--robots-dir", str(source), "-o", str(target)]
            subprocess.run(words, check=True)
            for ship in (False, True):
                judged = filter_urls(urls, table=target, agents="GPTBot", ship=ship).collect()
                found = {row.url[-1]: row.verdict for row in judged}
                expected = {name: "deny" if name == denied else "allow" for name in "ab"}
                assert found == expected, found

    def check_columns_of_any_name(self) -> None:
        """Columns keep their names, also if Spark cannot find these names again."""
        df = self.df.limit(50).withColumnRenamed("url", "page.url")
        df = df.select("id", "`page.url`", F.col("id").alias("id"), F.lit(1).alias("a`b"))
        for by_shard in (False, True):
            judged = filter_urls(
                df, table=self.shards, agents="GPTBot", url="page.url", by_shard=by_shard
            )
            assert judged.columns == [*df.columns, "verdict"], judged.columns
            assert len(judged.select("verdict").collect()) == 50

    def check_times_of_rows(self) -> None:
        """Each row is judged for its time, of any type, whatever the time zone of the session."""
        write_histories(self.place)
        table, shards = str(self.place / "history.table"), str(self.place / "history.shards")
        draw = random.Random(53)
        edges = [HISTORY_START + year * HISTORY_STEP for year in range(4)]
        seconds = [draw.choice([*edges, *(edge - 1 for edge in edges), None]) for _ in range(3000)]
        hosts = [host_of(draw.randrange(HOSTS + 5)) for _ in seconds]
        urls = [draw.choice([f"https://{host}/{draw.randrange(4)}/", None]) for host in hosts]
        with Table.open(table) as opened:
            times = pa.array(seconds, pa.timestamp("s"))
            wanted = opened.verdicts(urls, AGENTS, True, at=times)
        assert {item["*"].verdict for item in wanted if item} == {
            *("allow", "deny", "unknown", "invalid")
        }
        rows = list(zip(range(len(urls)), urls, seconds, strict=True))
        df = self.spark.createDataFrame(rows, "id int, url string, seconds long")
        zone = self.spark.conf.get("spark.sql.session.timeZone")
        self.spark.conf.set("spark.sql.session.timeZone", "America/New_York")
        # Half a second later it is the same second. Days are those of UTC.
        exact = "timestamp_millis(1000 * seconds + 500)"
        kinds = {
            "instant": exact,
            "local": "timestamp_ntz'1970-01-01 00:00:00.5' + make_dt_interval(0, 0, 0, seconds)",
        }
        df = df.selectExpr("id", "url", *(f"{sql} AS {name}" for name, sql in kinds.items()))
        try:
            for name in kinds:
                ways: list[dict[str, Any]] = [{"table": table}]
                if name == "instant":
                    ways.append({"table": shards, "by_shard": True, "tasks": 3})
                for more in ways:
                    judged = filter_urls(df, agents=AGENTS, explain=True, time=name, **more)
                    found = judged.select("id", "verdict", "reason").sort("id").collect()
                    assert len(found) == len(wanted)
                    for row, item in zip(found, wanted, strict=True):
                        for agent in AGENTS:
                            pair = (
                                row.verdict and row.verdict[agent],
                                row.reason and row.reason[agent],
                            )
                            expected = (None, None) if item is None else item[agent][:2]
                            assert pair == expected, (name, more, row, item, seconds[row.id])
            day = df.selectExpr("id", "'https://h1.example/1/' AS url", "DATE'2024-01-01' AS day")
            judged = filter_urls(day, table=table, agents="*", time="day").distinct()
            with Table.open(table) as opened:
                one = opened.verdict("https://h1.example/1/", "*", at=date(2024, 1, 1)).verdict
            assert {row.verdict for row in judged.collect()} == {one}
            # Years later the newest robots.txt is more than a day old.
            late = day.withColumn("day", F.lit(date(2030, 1, 1)))
            asked: dict[str, Any] = {"agents": "*", "time": "day", "explain": True}
            old = filter_urls(late, table=table, max_age=1, **asked).select("verdict", "reason")
            found = [tuple(row) for row in old.distinct().collect()]
            assert found == [("unknown", "no-recent-capture")], found
        finally:
            self.spark.conf.set("spark.sql.session.timeZone", zone)
        for text, wrong in {
            "has no histories. Compile it with history=True": {"table": self.table},
            "no column when. Name the column of the times: time=": {"time": "when"},
            "the column b is of type boolean": {"time": "b"},
            "max_age is 0. Pass a whole number of days": {"max_age": 0},
            "max_age needs a time": {"max_age": 9, "time": None},
        }.items():
            try:
                frame = df.withColumn("b", F.lit(True))
                filter_urls(frame, **{"table": table, "agents": "*", "time": "instant", **wrong})
            except UsageError as error:
                assert text in str(error), error
            else:
                raise AssertionError(f"not refused: {text}")

    def check_uses(self) -> None:
        """They are those of the single process, for one and for several agents and uses."""
        write_signals(self.place)
        table, shards = str(self.place / "signals.table"), str(self.place / "signals.shards")
        tokens = {"train": "Trainer"}
        rows = self.expected.column("url").to_pylist()[:3000]
        urls = [url if url is None else url.replace("/3/", "/1/") for url in rows]
        numbered = list(enumerate(urls))
        df = self.spark.createDataFrame(numbered, "id int, url string").repartition(4)
        moving: dict[str, Any] = {"table": shards, "by_shard": True}
        cases: list[tuple[Any, Any]] = [
            ("GPTBot", "train"),
            ("GPTBot", ["train", "search"]),
            (AGENTS, "train"),
            (AGENTS, ["train", "search"]),
        ]
        if self.quick:
            cases = cases[-1:]
        seen = set()
        for agents, uses in cases:
            with Table.open(table) as opened:
                wanted = opened.uses(urls, agents, uses, True, policy_tokens=tokens)
                verdicts = opened.verdicts(urls, agents)
            asked = {"agents": agents, "use": uses, "policy_tokens": tokens, "table": table}
            again = filter_urls(df, **asked)
            assert again.columns == ["id", "url", "verdict", "use"]
            plain = [row.use for row in again.sort("id").collect()]
            # Moving rows takes seconds, so only one case does it.
            way = moving if (agents, uses) == cases[-1] else {}
            judged = filter_urls(df, explain=True, **{**asked, **way})
            added = ["verdict", "use", "reason", "use_reason"]
            assert judged.columns == ["id", "url", *added], judged.columns
            found = judged.sort("id").collect()
            assert len(found) == len(urls)
            for row, answer, verdict in zip(found, wanted, verdicts, strict=True):
                assert _plain(row.verdict) == verdict, (row, verdict)
                for place, name in enumerate(("use", "use_reason")):
                    assert _plain(row[name]) == _part(answer, place), (row, answer)
                seen.add(json.dumps(_plain(row.use)))
            assert [row.use for row in found] == plain
        assert len(seen) > (5 if self.quick else 20), seen
        with Table.open(table) as opened:
            explained = opened.uses(urls, "*", "search", explain=True)
        options = {"table": table, "agents": "*", "use": "search"}
        register(self.spark, "used", explain=True, **options)
        df.createOrReplaceTempView("pages")
        records = self.spark.sql("SELECT id, used(url) AS u FROM pages ORDER BY id").collect()
        for row, item in zip(records, explained, strict=True):
            assert [*row.u.asDict()] == ["verdict", "use", "reason", "use_reason"], row
            pair = (row.u.use, row.u.use_reason)
            assert pair == ((None, None) if item is None else item[:2]), (row, item)
        before = self.spark.sparkContext.statusTracker().getJobIdsForGroup()
        for text, wrong in {
            "Compile it again with signals=True": {"table": self.table},
            "command line with --signals": {"table": self.shards},
            "no purpose and no key of a signal": {"use": "a b"},
            "the use train is named twice": {"use": ["train", "TRAIN"]},
            "policy_tokens has no effect without use": {"use": None, "policy_tokens": tokens},
            "the policy token of train has no effect": {"policy_tokens": tokens},
        }.items():
            more = {**options, **wrong}
            _refused(lambda more=more: filter_urls(df, **more), text)
            if not isinstance(more["use"], list):
                _refused(lambda more=more: register(self.spark, "wrong", **more), text)
        for more in ({"use": ["search"]}, {"agents": ["*"]}):
            asked = {**options, **more}
            text = "a function answers about one use for one agent"
            _refused(lambda asked=asked: register(self.spark, "wrong", **asked), text)
        _refused(
            lambda: filter_urls(df.withColumnRenamed("id", "Use"), **options),
            "the DataFrame has a column Use already",
        )
        assert self.spark.sparkContext.statusTracker().getJobIdsForGroup() == before

    def check_function_of_sql(self) -> None:
        """It gives the verdicts of the single process, alone and for several agents."""
        register(self.spark, "verdicts", table=self.shards, agents=AGENTS)
        register(self.spark, "why", table=self.table, agents=AGENTS[0], explain=True, ship=True)
        plain = register(self.spark, "plain", table=self.table, agents=AGENTS[0])
        self.df.createOrReplaceTempView("urls")
        columns = "verdicts(url) AS v, why(url) AS w, plain(url) AS p"
        query = f"SELECT id, {columns} FROM urls ORDER BY id"
        found = self.spark.sql(query).toArrow() if hasattr(self.df, "toArrow") else None
        rows = found.to_pylist() if found is not None else self.spark.sql(query).collect()
        assert len(rows) == len(self.expected)
        for row, verdict, reason in zip(
            rows,
            self.expected.column("verdict").to_pylist(),
            self.expected.column("reason").to_pylist(),
            strict=True,
        ):
            for agent in AGENTS:
                assert row["v"][agent] == (verdict and verdict[agent]), (row, verdict)
            assert row["w"]["verdict"] == (verdict and verdict[AGENTS[0]]), (row, verdict)
            assert row["w"]["reason"] == (reason and reason[AGENTS[0]]), (row, reason)
            assert row["p"] == (verdict and verdict[AGENTS[0]]), (row, verdict)
        denied = self.spark.sql("SELECT id FROM urls WHERE why(url).verdict = 'deny'").count()
        assert denied == sum(row["w"]["verdict"] == "deny" for row in rows) > 0
        # The function takes a column, by its name, too.
        for column in ("url", F.col("url")):
            assert self.df.filter(plain(column) == "deny").count() == denied

    def check_only_urls_go_to_python(self) -> None:
        """Columns that nobody asks for are not read, and those that Arrow lacks keep their type."""
        judged = filter_urls(self.df, table=self.table, agents="GPTBot")
        plan = judged.select("verdict")._jdf.queryExecution().executedPlan().toString()
        assert "ReadSchema: struct<url:string>" in plan, plan
        # Judged once, though it is asked for twice.
        plan = judged.filter("verdict = 'deny'")._jdf.queryExecution().executedPlan().toString()
        assert plan.count("judge(") == 1, plan
        df = self.df.limit(5).withColumn("months", F.expr("INTERVAL '3' MONTH"))
        for by_shard in (False, True):
            judged = filter_urls(df, table=self.shards, agents="*", by_shard=by_shard)
            rows = judged.selectExpr("CAST(months AS STRING) AS months", "verdict").collect()
            assert {row.months for row in rows} == {"INTERVAL '3' MONTH"}, rows
            assert len(rows) == 5

    def check_connect(self) -> None:
        """A client of Spark Connect gets the same verdicts, also of a table that is shipped."""
        script = f"""
import sys
from pyspark.sql import SparkSession
from robots_filter import UsageError
from robots_filter.spark import filter_urls, register
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
df = spark.read.parquet({str(self.place / "urls")!r})
assert type(spark).__module__.startswith("pyspark.sql.connect")
options = dict(agents={AGENTS!r}, explain=True)
for more in (dict(table={self.table!r}, ship=True), dict(table={self.shards!r}, by_shard=True)):
    judged = filter_urls(df, **more, **options)
    judged.write.mode("append").parquet({str(self.place / "connect")!r})
try:
    filter_urls("urls", table={self.table!r}, agents="GPTBot")
except UsageError as error:
    assert "df is of type str. Pass a DataFrame" in str(error), error
verdict = register(spark, "verdict", table={self.table!r}, agents="GPTBot")
df.createOrReplaceTempView("urls")
denied = spark.sql("SELECT id FROM urls WHERE verdict(url) = 'deny'").count()
assert df.filter(verdict("url") == "deny").count() == denied
print(denied)
spark.stop()
"""
        with connect_server(self.place) as url:
            if url is None:
                print("   NOT TESTED: Spark Connect of 3.5 needs mvn and Maven's registry")
                return
            words = [sys.executable, "-c", script, url]
            # As a client that has no Spark but its package.
            hidden = ("SPARK_LOCAL_IP", "SPARK_HOME")
            environment = {key: text for key, text in os.environ.items() if key not in hidden}
            ended = subprocess.run(words, capture_output=True, text=True, env=environment)
        assert ended.returncode == 0, ended.stderr[-3000:]
        found = pq.read_table(self.place / "connect").sort_by("id")
        assert len(found) == 2 * len(self.expected)
        for start in (0, 1):
            half = found.take(list(range(start, len(found), 2)))
            assert half.to_pylist() == self.expected.to_pylist()
        verdicts = self.expected.column("verdict").to_pylist()
        denied = sum(each is not None and each["GPTBot"] == "deny" for each in verdicts)
        assert int(ended.stdout.split()[-1]) == denied > 0

    def check_heavy_host_in_several_tasks(self) -> None:
        """One host has half of all URLs, and no task has more than a quarter."""
        judged = self.judged(self.df, by_shard=True, tasks=16)
        counts = judged.groupBy(F.spark_partition_id()).count().collect()
        share = max(row[1] for row in counts) / len(self.expected)
        print(f"   {len(counts)} tasks; the largest has {share:.1%} of the rows")
        assert share < 0.25, share

    def check_killed_filter_process(self) -> None:
        """Its task fails with a message, is tried again, and the result is right."""
        kills = self.during(self.judged(self.slow()), self.kill_filters)
        print(f"   {kills} processes killed")
        assert kills > 0

    def check_second_copy_of_slow_task(self) -> None:
        """Where Spark runs a slow task twice (speculation), its rows come once."""
        marks = self.place / "attempts"
        marks.mkdir()

        def stall(batches: Any) -> Any:
            context = TaskContext.get()
            assert context is not None
            if context.partitionId() == 0:
                (marks / str(context.attemptNumber())).touch()
            for batch in batches:
                yield batch
                if context.partitionId() == 0 and context.attemptNumber() == 0:
                    time.sleep(STALL)

        df = self.df.repartition(8)
        started = time.monotonic()
        self.is_expected(self.judged(df.mapInArrow(stall, df.schema)))
        assert {mark.name for mark in marks.iterdir()} == {"0", "1"}
        # The first copy was ended in the midst of its rows.
        assert time.monotonic() - started < STALL

    def check_damaged_part_fails_loudly(self) -> None:
        """A part that is damaged after the check fails the job with the program's message."""
        damaged = self.place / "damaged"
        shutil.copytree(self.shards, damaged)
        # The driver opens the smallest part.
        part = max(damaged.glob("*.table"), key=lambda path: path.stat().st_size)
        data = bytearray(part.read_bytes())
        data[-1000] ^= 1
        part.write_bytes(data)
        judged = self.judged(self.df, table=str(damaged), by_shard=True)
        try:
            # A count alone would judge nothing.
            judged.write.format("noop").mode("overwrite").save()
        except Exception as error:
            assert f"{part.name}: damaged: its checksum is" in str(error), str(error)[-2000:]
        else:
            raise AssertionError("a damaged part was not noticed")

    def check_wrong_table_fails_before_anything_runs(self) -> None:
        """A missing part, another part, another profile, a manifest that is none."""
        # Spark runs a job to find the schema of the files.
        df = self.df
        before = self.spark.sparkContext.statusTracker().getJobIdsForGroup()
        wrong = self.place / "wrong"

        def refused(change: Callable[[], object], text: str, **options: Any) -> None:
            shutil.rmtree(wrong, ignore_errors=True)
            shutil.copytree(self.shards, wrong)
            change()
            try:
                self.judged(df, table=str(wrong), **options)
            except RobotsFilterError as error:
                assert text in str(error), error
            else:
                raise AssertionError(f"not refused: {text}")

        part = wrong / "part-00001.table"
        refused(part.unlink, "part-00001.table: cannot be read")
        refused(lambda: shutil.copy(wrong / "part-00002.table", part), "not the table that")
        refused(lambda: part.write_bytes(b"no table"), "not a table of robots-filter")
        refused((wrong / "manifest.json").unlink, "a directory without manifest.json")
        refused(lambda: (wrong / "manifest.json").write_text("{}"), "not a manifest of shards")
        refused(lambda: None, "cannot answer for google", profile="google")
        assert self.spark.sparkContext.statusTracker().getJobIdsForGroup() == before

    def check_wrong_arguments_fail_before_anything_runs(self) -> None:
        """A column that is missing or no text, agents that are none or alike, no tasks."""
        df = self.df
        before = self.spark.sparkContext.statusTracker().getJobIdsForGroup()
        usual = {"table": self.shards, "agents": "GPTBot"}
        for text, wrong in {
            "no column link": {"url": "link"},
            "the column id is of type bigint": {"url": "id"},
            "is not a product token": {"agents": "no agent"},
            "the agent 'GPTBot' is named twice": {"agents": ["GPTBot", "GPTBot"]},
            "'GPTBot' and 'gptbot' are the same agent": {"agents": ["GPTBot", "gptbot"]},
            "agents is empty": {"agents": []},
            "tasks is 0": {"tasks": 0},
            "lies in s3a": {"table": "s3a://bucket/robots.table"},
            "Name the same as a file: /dbfs/robots": {"table": "dbfs:/robots.table"},
        }.items():
            try:
                filter_urls(df, **{**usual, **wrong})
            except UsageError as error:
                assert text in str(error), error
            else:
                raise AssertionError(f"not refused: {text}")
        stream = self.spark.readStream.format("rate").load().withColumn("url", F.lit("a"))
        try:
            filter_urls(stream, table=self.shards, agents="*", by_shard=True)
        except UsageError as error:
            assert "is a stream" in str(error), error
        else:
            raise AssertionError("a stream by shard was not refused")
        assert self.spark.sparkContext.statusTracker().getJobIdsForGroup() == before

    def check_archives_compile_as_on_one_machine(self) -> None:
        """Archives compile to the same parts, though redirects leave shards and archives."""
        archives = write_archives(self.place / "archives", files=6, captures=60, hosts=80)
        direct, output = (self.place / name for name in ("direct", "by-spark"))
        sources = [word for path in archives for word in ("--robots-dir", path)]
        compiled = ["--shards", str(SHARDS), "--signals"]
        words = ["compile", "-q", *sources, *compiled, "-o", str(direct)]
        subprocess.run([*command(), *words], check=True)
        named = [word for path in archives for word in ("--archives", path)]
        words = [*named, *compiled, "--output", str(output)]
        self.spark.sparkContext.addPyFile(compile_warc.__file__)
        compile_warc.compile_archives(self.spark, compile_warc.parsed(words))
        names = sorted(path.name for path in output.iterdir())
        assert names == sorted(path.name for path in direct.iterdir()), names
        for name in names[1:]:
            assert (output / name).read_bytes() == (direct / name).read_bytes(), name
        with Table.open(output) as table:
            urls = [f"https://h{number}.example/{number % 10}" for number in range(80)]
            assert "refused" in table.uses(urls, "GPTBot", "train")

    def check_killed_worker(self) -> None:
        """A worker dies in mid-job with its executor and all processes, and nothing changes."""
        judged = self.judged(self.slow(), by_shard=True)
        kills = self.during(judged, lambda: [self.cluster.kill_worker()])
        assert kills == 1

    def during(self, judged: DataFrame, kill: Callable[[], list[Any]]) -> int:
        """Run a job, and kill something when its filters have begun; return how much."""
        killed: list[Any] = []
        ended = threading.Event()

        def watch() -> None:
            while not ended.is_set():
                if self.filters():
                    time.sleep(0.5)
                    killed.extend(kill())
                    # What was seen may have been a process of the check before, as it died.
                    if killed:
                        return
                time.sleep(0.05)

        for pid in self.filters():
            os.kill(pid, signal.SIGKILL)
        watcher = threading.Thread(target=watch)
        watcher.start()
        self.is_expected(judged)
        ended.set()
        watcher.join()
        return len(killed)

    def kill_filters(self) -> list[int]:
        """Kill the processes that judge for this run's tables."""
        pids = self.filters()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return pids

    def filters(self) -> list[int]:
        """The processes that judge for this run's tables, which lie in its own directory."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().split(b"\0")
            except OSError:
                continue
            if b"serve" in words and any(str(self.place).encode() in word for word in words):
                found.append(int(path.parent.name))
        return found


def _plain(value: Any) -> Any:
    """A value of Spark, with dicts for its structs."""
    return value.asDict(recursive=True) if hasattr(value, "asDict") else value


def _part(answer: Any, place: int) -> Any:
    """One member of each explanation in an item of `Table.uses`."""
    if isinstance(answer, dict):
        return {name: _part(each, place) for name, each in answer.items()}
    return None if answer is None else answer[place]


def _refused(call: Callable[[], object], text: str) -> None:
    try:
        call()
    except UsageError as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


def main() -> None:
    """Start the cluster, run all checks, end it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--urls", type=int, default=2_000_000)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="append", help="a word of the checks to run; repeatable")
    options = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="robots-filter-spark-"))
    cluster: Cluster | None = None
    try:
        os.environ["SPARK_LOCAL_IP"] = LOOPBACK
        os.environ["PYSPARK_PYTHON"] = sys.executable
        cluster = Cluster(place)
        spark = (
            SparkSession.builder.master(cluster.url)
            .appName("robots-filter")
            .config("spark.driver.host", LOOPBACK)
            .config("spark.driver.bindAddress", LOOPBACK)
            .config("spark.driver.memory", "1g")
            .config("spark.driver.maxResultSize", "0")
            .config("spark.executor.memory", "600m")
            .config("spark.sql.shuffle.partitions", "8")
            .config("spark.sql.execution.arrow.maxRecordsPerBatch", "5000")
            .config("spark.sql.execution.arrow.pyspark.enabled", "true")
            .config("spark.local.dir", str(place))
            .config("spark.speculation", "true")
            .config("spark.speculation.minTaskRuntime", f"{SECOND_COPY}s")
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("OFF")
        checks = Checks(place, spark, cluster, options.urls, quick=options.quick)
        print(f"{options.urls} URLs; one process alone: {checks.alone_seconds:.1f} s")
        chosen: list[Callable[[], None]] = [
            checks.check_equal_whatever_the_partitioning,
            checks.check_parquet_of_spark_gets_its_verdicts,
            checks.check_damaged_part_fails_loudly,
            checks.check_killed_filter_process,
            checks.check_second_copy_of_slow_task,
            checks.check_function_of_sql,
            checks.check_only_urls_go_to_python,
            checks.check_uses,
        ]
        if not options.quick:
            chosen += [
                checks.check_wrong_table_fails_before_anything_runs,
                checks.check_wrong_arguments_fail_before_anything_runs,
                checks.check_replaced_table_is_opened_anew,
                checks.check_columns_of_any_name,
                checks.check_times_of_rows,
                checks.check_heavy_host_in_several_tasks,
                checks.check_archives_compile_as_on_one_machine,
                checks.check_connect,
                # It comes last: no later check has this worker.
                checks.check_killed_worker,
            ]
        named = {check.__name__.removeprefix("check_").replace("_", " "): check for check in chosen}
        for word in options.check or []:
            if not any(word in name for name in named):
                raise ValueError(f"no check has the word {word!r}: {', '.join(named)}")
        for name, check in named.items():
            if options.check and not any(word in name for word in options.check):
                continue
            started = time.monotonic()
            check()
            print(f"ok {name}: {time.monotonic() - started:.1f} s", flush=True)
        spark.stop()
    finally:
        if cluster is not None:
            cluster.close()
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
