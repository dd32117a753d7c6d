"""Reads a release with the libraries that people use, and tells for each file what it holds and which types it has.

Usage: readers.py FOLDER, where FOLDER is that of a release. Prints a JSON list of {"reader", "table", "file", "types",
"rows", "tokens", "content_hash"}; content_hash is that of the canonical CSV of what was read.
"""

import csv
import gzip
import hashlib
import io
import json
import sys

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet

DAILY = ["date", "model_permaslug", "total_tokens"]
TABLES = {"daily": DAILY, "weekly": [*DAILY, "days"], "monthly": [*DAILY, "days"]}
FOLDER = sys.argv[1]


def path(name):
    return f"{FOLDER}/rankings-{TABLE}.{name}"


def pandas_rows(frame):
    types = [str(frame[column].dtype) for column in COLUMNS]
    return types, frame[COLUMNS].itertuples(index=False, name=None)


def polars_rows(frame):
    return [str(frame.schema[column]) for column in COLUMNS], frame.select(COLUMNS).iter_rows()


def arrow_rows(table):
    types = [str(table.schema.field(column).type) for column in COLUMNS]
    return types, zip(*(table.column(column).to_pylist() for column in COLUMNS))


def duckdb_rows(relation):
    relation = relation.select(*COLUMNS)
    return [str(name) for name in relation.types], relation.fetchall()


def json_data():
    with gzip.open(path("json.gz"), "rt", encoding="utf-8") as file:
        return json.load(file)["data"]


# A model may be called "null" or "NaN": readers that guess must be told that nothing is missing.
READERS = {
    "pandas": {
        "parquet": lambda: pandas_rows(pandas.read_parquet(path("parquet"))),
        "csv": lambda: pandas_rows(pandas.read_csv(path("csv"), keep_default_na=False, parse_dates=["date"])),
        "csv.gz": lambda: pandas_rows(pandas.read_csv(path("csv.gz"), keep_default_na=False, parse_dates=["date"])),
        "ndjson.gz": lambda: pandas_rows(pandas.read_json(path("ndjson.gz"), lines=True, dtype=False)),
        "json.gz": lambda: pandas_rows(pandas.DataFrame(json_data())),
    },
    "polars": {
        "parquet": lambda: polars_rows(polars.read_parquet(path("parquet"))),
        "csv": lambda: polars_rows(polars.read_csv(path("csv"), try_parse_dates=True)),
        "csv.gz": lambda: polars_rows(polars.read_csv(path("csv.gz"), try_parse_dates=True)),
        "ndjson.gz": lambda: polars_rows(polars.read_ndjson(io.BytesIO(gzip.open(path("ndjson.gz")).read()))),
        "json.gz": lambda: polars_rows(polars.DataFrame(json_data())),
    },
    "pyarrow": {
        "parquet": lambda: arrow_rows(pyarrow.parquet.read_table(path("parquet"))),
        "csv": lambda: arrow_rows(pyarrow.csv.read_csv(path("csv"))),
        "csv.gz": lambda: arrow_rows(pyarrow.csv.read_csv(path("csv.gz"))),
        "ndjson.gz": lambda: arrow_rows(pyarrow.json.read_json(pyarrow.input_stream(path("ndjson.gz")))),
        "json.gz": lambda: arrow_rows(pyarrow.Table.from_pylist(json_data())),
    },
    "duckdb": {
        "parquet": lambda: duckdb_rows(duckdb.read_parquet(path("parquet"))),
        "csv": lambda: duckdb_rows(duckdb.read_csv(path("csv"))),
        "csv.gz": lambda: duckdb_rows(duckdb.read_csv(path("csv.gz"))),
        "ndjson.gz": lambda: duckdb_rows(duckdb.read_json(path("ndjson.gz"))),
        "json.gz": lambda: duckdb_rows(
            duckdb.read_json(path("json.gz"), maximum_object_size=2**30).query(
                "answer", "SELECT unnest(data, recursive := true) FROM answer"
            )
        ),
    },
}


def canonical(rows):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    tokens = 0
    count = 0
    for date, model, total, *days in rows:
        writer.writerow([str(date)[:10], model, int(total), *(int(count) for count in days)])
        tokens += int(total)
        count += 1
    digest = hashlib.sha256(text.getvalue().encode("utf-8")).hexdigest()
    return {"rows": count, "tokens": str(tokens), "content_hash": f"sha256:{digest}"}


def read(reader, file, work):
    try:
        types, rows = work()
        return {"reader": reader, "table": TABLE, "file": file, "types": types, **canonical(rows)}
    except Exception as error:  # What a reader cannot read is told beside the rest.
        return {"reader": reader, "table": TABLE, "file": file, "error": f"{type(error).__name__}: {error}"}


readings = []
for TABLE, COLUMNS in TABLES.items():
    readings += [read(reader, file, work) for reader, files in READERS.items() for file, work in files.items()]
json.dump(readings, sys.stdout)
