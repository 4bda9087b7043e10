"""The files of `culmen export`."""

import csv
import io
import json

import pyarrow.parquet
import pytest
from culmen.report import export
from store_builder import build

import culmen

pytestmark = pytest.mark.no_numbers

SPACE = {"x": {"lower": -5.0, "upper": 5.0}, "n": {"type": "integer", "lower": 1.0, "upper": 9.0}}
VALUE = 0.1 + 0.2


@pytest.fixture
def table(tmp_path):
    candidates = [[1 / 3, 1.0], [1.5, 2.0], [2.5, 3.0]]
    outcomes = {
        0: {"value": VALUE, "residuals": [0.5, float("inf")], "extras": {"a,b": 1.5}},
        1: {"status": "failed", "message": 'line one, "quoted"\nline two'},
    }
    configuration = {"name": "built", "space": SPACE}
    return culmen.read(build(tmp_path / "s.db", candidates, outcomes, configuration=configuration))


@pytest.fixture(params=[1, 2, 20_000])
def batch(request, monkeypatch):
    """The output does not depend on the number of rows that are written at a time."""
    monkeypatch.setattr(export, "_BATCH", request.param)


def test_csv_reads_back_as_the_same_numbers(table, batch):
    out = io.StringIO()
    export.write_csv(table, out)
    rows = list(csv.DictReader(io.StringIO(out.getvalue())))
    assert len(rows) == 3
    assert (float(rows[0]["x"]), rows[0]["n"], float(rows[0]["value"])) == (1 / 3, "1", VALUE)
    assert rows[0]["a,b"] == "1.5"
    assert (rows[1]["status"], rows[1]["value"]) == ("failed", "")
    assert rows[1]["message"] == 'line one, "quoted"\nline two'
    assert (rows[2]["status"], rows[2]["worker"], rows[2]["told"], rows[2]["message"]) == ("", "", "", "")


def test_json_has_residuals_and_null(table, batch):
    out = io.StringIO()
    export.write_json(table, out)
    rows = json.loads(out.getvalue())
    assert rows[0]["value"] == VALUE
    assert rows[0]["residuals"] == [0.5, None]
    assert rows[1]["value"] is None
    assert rows[2]["worker"] is None


def test_parquet_keeps_types(table, batch, tmp_path):
    export.write_parquet(table, str(tmp_path / "s.parquet"))
    read = pyarrow.parquet.read_table(tmp_path / "s.parquet")
    assert {"x": "double", "n": "int64", "status": "string", "message": "string"}.items() <= {
        field.name: str(field.type) for field in read.schema
    }.items()
    rows = read.to_pylist()
    assert (rows[0]["x"], rows[0]["n"], rows[0]["value"]) == (1 / 3, 1, VALUE)
    assert rows[1]["message"].startswith("line one")
    assert rows[2]["told"] is None


@pytest.mark.parametrize("write", [export.write_csv, export.write_json])
def test_an_empty_study_is_exported_as_nothing(write, tmp_path):
    out = io.StringIO()
    write(culmen.read(build(tmp_path / "s.db", [], {})), out)
    text = out.getvalue()
    assert json.loads(text) == [] if write is export.write_json else len(text.splitlines()) == 1


def test_names_that_columns_have_already_get_their_kind_in_front(tmp_path):
    space = {name: {"lower": 0.0, "upper": 1.0} for name in ("residuals", "message", "told")}
    figures = {"residuals": 7.0, "parameter.residuals": 8.0}
    outcome = {"value": 1.0, "residuals": [1.0], "extras": figures}
    table = culmen.read(build(tmp_path / "s.db", [[0.1, 0.2, 0.3]], {0: outcome}, configuration={"space": space}))
    out = io.StringIO()
    export.write_json(table, out)
    row = json.loads(out.getvalue())[0]
    assert [row[f"parameter.{name}"] for name in space] == [0.1, 0.2, 0.3]
    assert (row["residuals"], row["extra.residuals"], row["extra.parameter.residuals"]) == ([1.0], 7.0, 8.0)
    export.write_parquet(table, str(tmp_path / "s.parquet"))
    assert set(pyarrow.parquet.read_table(tmp_path / "s.parquet").column_names) == set(row)
