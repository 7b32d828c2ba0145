from __future__ import annotations

import random
import re
from typing import Any

import pytest

from robots_filter import Table, UsageError

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")

URLS = [
    "https://shop.example/tea",
    "https://blog.example/essays/1",
    None,
    "https://new.example/é",
    "",
    "https://shop.example/cart/",
]
VERDICTS = ["allow", "deny", None, "unknown", "invalid", "deny"]
TYPES = [
    pa.string(),
    pa.large_string(),
    pa.binary(),
    pa.large_binary(),
    # pyarrow 16 was the first with views.
    *(getattr(pa, name)() for name in ("string_view", "binary_view") if hasattr(pa, name)),
    pa.dictionary(pa.int32(), pa.string()),
    pa.dictionary(pa.int8(), pa.large_string()),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_arrays_of_all_types_and_slices(table: Table, kind: object) -> None:
    base = pa.binary() if "binary" in str(kind) else pa.string()
    values = pa.array(URLS, base).cast(kind)
    for start in range(len(URLS) + 1):
        for length in (0, 1, 3, len(URLS)):
            part = values.slice(start, length)
            judged = table.verdicts(part, "GPTBot")
            judged.validate(full=True)
            assert isinstance(judged, pa.DictionaryArray)
            assert judged.to_pylist() == VERDICTS[start : start + length]


def test_struct_of_agents_and_explanations(table: Table) -> None:
    values = pa.array(URLS)
    lists = table.verdicts(URLS, ["GPTBot", "*"])
    judged = table.verdicts(values, ["GPTBot", "*"])
    judged.validate(full=True)
    assert judged.to_pylist() == lists
    assert judged.null_count == 1
    for agents in ("GPTBot", ["GPTBot", "*"]):
        explained = table.verdicts(values, agents, explain=True)
        explained.validate(full=True)
        expected = table.verdicts(URLS, agents, explain=True)
        if agents == "GPTBot":
            assert explained.to_pylist() == [each and each._asdict() for each in expected]
        else:
            assert explained.to_pylist() == [
                row and {name: each._asdict() for name, each in row.items()} for row in expected
            ]
    assert str(explained.type.field("GPTBot").type.field("line").type) == "int32"


def test_chunks_keep_their_lengths(table: Table) -> None:
    values = pa.array(URLS * 9000)
    chunked = pa.chunked_array([values.slice(0, 7), values.slice(7, 0), values.slice(7)])
    for agents, explain in (("GPTBot", False), (["GPTBot"], False), ("GPTBot", True)):
        judged = table.verdicts(chunked, agents, explain=explain)
        judged.validate(full=True)
        assert isinstance(judged, pa.ChunkedArray)
        assert [len(chunk) for chunk in judged.chunks] == [7, 0, len(values) - 7]
        assert judged.to_pylist() == table.verdicts(values, agents, explain=explain).to_pylist()
    assert table.verdicts(chunked, "GPTBot").to_pylist() == VERDICTS * 9000
    empty = table.verdicts(pa.chunked_array([], pa.string()), ["GPTBot"])
    assert (len(empty), str(empty.type)[:7]) == (0, "struct<")
    encoded = table.verdicts(chunked.dictionary_encode(), ["GPTBot"])
    assert [row and row["GPTBot"] for row in encoded.to_pylist()] == VERDICTS * 9000


def test_null_slots_with_bytes_in_them(table: Table) -> None:
    # Arrow lets a null have any bytes.
    full = pa.array(["https://shop.example/cart/"] * 3)
    _, offsets, data = full.buffers()
    holed = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), offsets, data])
    assert table.verdicts(holed, "*").to_pylist() == ["deny", None, "deny"]
    assert table.verdicts(pa.nulls(3), "*").to_pylist() == [None] * 3
    assert table.verdicts(pa.nulls(3, pa.string()), "*").to_pylist() == [None] * 3


def test_bytes_that_are_no_utf8(table: Table) -> None:
    odd = [b"https://blog.example/old\xff", b"\xff", b"https://blog.example/\n\0old", b"\n"]
    values = pa.array(odd, pa.binary())
    assert table.verdicts(values, "*").to_pylist() == table.verdicts(odd, "*")
    assert table.verdicts(values, "*").to_pylist() == ["deny", "invalid", "allow", "invalid"]


def test_sizes_around_those_of_requests(table: Table) -> None:
    source = random.Random(2)
    for length in (2**16 - 1, 2**16, 2**16 + 1):
        codes = [source.randrange(3) for _ in range(length)]
        values = pa.array([("http://a", "https://shop.example/cart/", "")[code] for code in codes])
        expected = [("unknown", "deny", "invalid")[code] for code in codes]
        assert table.verdicts(values, "*").to_pylist() == expected
    # The bytes of a request are at most 2^19, unless one URL has more.
    for length in (2**19 - 1, 2**19, 2**19 + 1, 2**24 + 1):
        values = pa.array([URLS[0], b"https://blog.example/old".ljust(length, b"x"), URLS[0]])
        for kind in (pa.binary(), pa.large_binary()):
            expected_here = ["allow", "deny" if length <= 2**24 else "invalid", "allow"]
            assert table.verdicts(values.cast(kind), "*").to_pylist() == expected_here


def test_large_answers_and_large_requests_at_once(table: Table) -> None:
    # Both pipes are full again and again: 7 MB of requests, 65 MB of answers.
    values = pa.array([f"https://texts.example/{i % 300}/" for i in range(200_000)])
    judged = table.verdicts(values, [f"A-{'b' * i}" for i in range(16)], explain=True)
    assert len(judged) == 200_000
    assert judged.field(15).field("reason").unique().to_pylist() == ["no-rule"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pa.array([1, 2]), "an Arrow array of int64"),
        (pa.array([["a"]]), "an Arrow array of list"),
        (pa.array([1]).dictionary_encode(), "an Arrow array of dictionary"),
        (pa.table({"url": ["a"]}), "table.column('url')"),
    ],
)
def test_wrong_types_are_refused(table: Table, values: object, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        table.verdicts(values, "*")
    assert message in str(raised.value)


def test_pandas(table: Table) -> None:
    pd = pytest.importorskip("pandas")
    numbers = range(10, 10 + len(URLS))
    for kind in (object, "string", pd.ArrowDtype(pa.string())):
        series = pd.Series(URLS, index=numbers, name="u", dtype=kind)
        judged = table.verdicts(series, "GPTBot")
        assert isinstance(judged.dtype, pd.CategoricalDtype)
        assert (list(judged.index), judged.name) == (list(numbers), "u")
        assert [None if pd.isna(each) else each for each in judged] == VERDICTS
        several = table.verdicts(series, ["GPTBot", "*"])
        assert pa.array(several).to_pylist() == table.verdicts(URLS, ["GPTBot", "*"])
    odd = pd.Series(["https://blog.example/old\ud800", None, float("nan")], dtype=object)
    assert list(table.verdicts(odd, "*").cat.codes) == [1, -1, -1]
    with pytest.raises(UsageError, match="URL 1 is of type int"):
        table.verdicts(pd.Series(["a", 7], dtype=object), "*")
    with pytest.raises(UsageError, match="an Arrow array of int64"):
        table.verdicts(pd.Series([1, 7]), "*")
    with pytest.raises(UsageError, match=r"frame\['url'\]"):
        table.verdicts(pd.DataFrame({"url": URLS}), "*")


def test_an_index_of_pandas(table: Table) -> None:
    pd = pytest.importorskip("pandas")
    index = pd.Index(URLS, name="u")
    judged = table.verdicts(index, "GPTBot")
    assert isinstance(judged, pd.Index)
    assert judged.name == "u"
    assert [None if each is np.nan else each for each in judged.tolist()] == VERDICTS
    several = table.verdicts(index, ["GPTBot"], explain=True)
    expected = table.verdicts(pa.array(URLS), ["GPTBot"], explain=True).to_pylist()
    assert isinstance(several, pd.Index)
    assert [None if each is pd.NA else each for each in several.tolist()] == expected
    odd = pd.Index([URLS[0], "\ud800x", b"https://shop.example/tea"], dtype=object)
    assert table.verdicts(odd, "GPTBot").tolist() == ["allow", "invalid", "allow"]
    with pytest.raises(UsageError, match="MultiIndex"):
        table.verdicts(pd.MultiIndex.from_tuples([("a", "b")]), "*")


@pytest.mark.parametrize("kind", [object, "U", "S", "T"])
def test_numpy(table: Table, kind: Any) -> None:
    urls = [url for url in URLS if kind is object or url is not None]
    if kind == "T":
        pytest.importorskip("numpy", minversion="2")
    if kind == "S":
        urls = [url for url in urls if url is not None and url.isascii()]
    array = np.array(urls, dtype=np.dtypes.StringDType() if kind == "T" else kind)
    judged = table.verdicts(array, "GPTBot")
    assert (type(judged), judged.dtype, judged.shape) == (np.ndarray, object, (len(urls),))
    assert judged.tolist() == table.verdicts(urls, "GPTBot")
    assert len(set(judged.tolist())) > 1
    expected = table.verdicts(urls, ["GPTBot", "*"], explain=True)
    assert table.verdicts(array, ["GPTBot", "*"], explain=True).tolist() == expected
    assert table.verdicts(array[:0], "*").tolist() == []
    with pytest.raises(UsageError, match=r"shape \(1, \d+\).*array\.ravel\(\)"):
        table.verdicts(array.reshape(1, -1), "*")
    with pytest.raises(UsageError, match="is one URL"):
        table.verdicts(np.array(urls, dtype="U" if kind is object else kind)[0], "*")


def test_other_packages_get_advice(table: Table) -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select 'https://shop.example/tea' as url")
    with pytest.raises(UsageError, match="DuckDBPyRelation") as raised:
        table.verdicts(relation, "*")
    advised = re.search(r"relation\S*", str(raised.value))
    assert advised is not None
    column = eval(advised[0].rstrip("."), {"relation": relation})
    assert table.verdicts(column, "*").to_pylist() == ["allow"]
    pl = pytest.importorskip("polars")
    for lazy in (pl.col("url"), pl.LazyFrame({"url": URLS})):
        with pytest.raises(UsageError, match="map_batches"):
            table.verdicts(lazy, "*")


def test_polars(table: Table) -> None:
    pl = pytest.importorskip("polars")
    series = pl.Series("u", URLS)
    judged = table.verdicts(series, "GPTBot")
    assert (judged.name, judged.to_list()) == ("u", VERDICTS)
    assert judged.dtype in (pl.Categorical, pl.Enum)
    several = table.verdicts(series, ["GPTBot", "*"], explain=True)
    expected = table.verdicts(pa.array(URLS), ["GPTBot", "*"], explain=True).to_pylist()
    assert several.to_list() == expected
    assert table.verdicts(series.cast(pl.Categorical), "GPTBot").to_list() == VERDICTS
    assert table.verdicts(pl.Series("u", [], dtype=pl.String), "GPTBot").to_list() == []
    objects = pl.Series("u", [*URLS[:2], None, b"https://shop.example/tea"], dtype=pl.Object)
    assert table.verdicts(objects, "GPTBot").to_list() == ["allow", "deny", None, "allow"]
    with pytest.raises(UsageError, match="URL 0 is of type int"):
        table.verdicts(pl.Series("u", [3], dtype=pl.Object), "GPTBot")
    with pytest.raises(UsageError, match=r"frame\['url'\]"):
        table.verdicts(pl.DataFrame({"url": URLS}), "*")


def test_filter_refuses_what_does_not_give_its_items(table: Table) -> None:
    pd = pytest.importorskip("pandas")
    for items, text in (
        (pd.DataFrame({"url": URLS}), "does not give its rows"),
        ({"a": URLS[0]}, "gives its keys"),
        (pa.array(URLS), "to_pylist"),
        (5, "is of type int"),
        (None, "is of type NoneType"),
    ):
        with pytest.raises(UsageError, match=text):
            table.filter(items, "*")  # type: ignore[arg-type]


def test_arrays_without_buffers(table: Table) -> None:
    for kind in (pa.string(), pa.large_string(), pa.binary()):
        empty = pa.Array.from_buffers(kind, 0, [None, pa.py_buffer(b""), pa.py_buffer(b"")])
        assert table.verdicts(empty, "*").to_pylist() == []
        for values in (empty, pa.chunked_array([empty, pa.array(["x"], kind), empty])):
            assert len(table.verdicts(values, ["*"], explain=True)) == len(values)


def test_other_types_of_bytes(table: Table) -> None:
    fixed = pa.array([b"http://a/", None, b"123456789"], pa.binary(9))
    expected = ["unknown", None, "invalid"]
    assert table.verdicts(fixed, "*").to_pylist() == expected
    assert table.verdicts(fixed.slice(1), "*").to_pylist() == expected[1:]
    # A dictionary may have values that are null, unused or equal.
    indices = pa.array([0, 1, None, 3], pa.int8())
    values = pa.DictionaryArray.from_arrays(indices, pa.array([URLS[0], None, URLS[1], URLS[0]]))
    assert table.verdicts(values, "*").to_pylist() == ["allow", None, None, "allow"]
    assert table.verdicts(values.slice(3), ["*"]).to_pylist() == [{"*": "allow"}]


def test_series_without_any_text(table: Table) -> None:
    pd = pytest.importorskip("pandas")
    for kind in (object, float, "string", "category", pd.ArrowDtype(pa.string())):
        judged = table.verdicts(pd.Series([None, None], dtype=kind), "*")
        assert list(judged.cat.codes) == [-1, -1]
        if kind is not float:
            assert list(table.verdicts(pd.Series([], dtype=kind), "*")) == []
    pl = pytest.importorskip("polars")
    for values in (pl.Series([None, None]), pl.Series([None, None], dtype=pl.Binary)):
        assert table.verdicts(values, "*").to_list() == [None, None]
