"""The same sums by embedded ClickHouse (chdb): `clickhouse.py FORMAT FOLDER`. It checks nothing and keeps nothing."""

import sys
from pathlib import Path

import chdb

READERS = {
    "parquet": ("Parquet", "timestamp DateTime64(6)"),
    "csv.gz": ("CSVWithNames", "timestamp String"),
    "ndjson.gz": ("JSONEachRow", "timestamp String"),
}

ending, folder = sys.argv[1:]
reader, time = READERS[ending]
columns = f"{time}, model_permaslug String, prompt_tokens Int64, completion_tokens Int64"
day = "toDate(timestamp)" if ending == "parquet" else "substring(timestamp, 1, 10)"
if any(mark in folder for mark in "'\\{}*?"):
    raise SystemExit(f"{folder} has a character that means something in a query")
print(
    chdb.query(
        f"""SELECT {day} AS day, model_permaslug, sum(toInt128(prompt_tokens) + completion_tokens), count()
        FROM file('{Path(folder)}/*.{ending}', {reader}, '{columns}')
        GROUP BY day, model_permaslug FORMAT Null"""
    )
)
