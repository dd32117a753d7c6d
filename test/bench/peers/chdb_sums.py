"""Tokens per day and model by embedded ClickHouse: `chdb_sums.py FORMAT FOLDER`, sums as CSV on stdout.

Not done: any check beyond the columns' types, duplicates, anything that is kept from run to run, a release.
"""

import sys

import chdb

READERS = {
    "parquet": ("Parquet", "timestamp DateTime64(6)"),
    "csv.gz": ("CSVWithNames", "timestamp String"),
    "ndjson.gz": ("JSONEachRow", "timestamp String"),
}

ending, folder = sys.argv[1:]
reader, time = READERS[ending]
columns = f"{time}, model_permaslug String, prompt_tokens Int64, completion_tokens Int64"
day = "toDate(timestamp, 'UTC')" if ending == "parquet" else "substring(timestamp, 1, 10)"
if any(mark in folder for mark in "'\\{}*?"):
    raise SystemExit(f"{folder} has a character that means something in a query")
print(
    chdb.query(
        f"""SELECT {day} AS day, model_permaslug, sum(toInt128(prompt_tokens) + completion_tokens) AS tokens, count() AS records
        FROM file('{folder}/*.{ending}', {reader}, '{columns}')
        GROUP BY day, model_permaslug ORDER BY day, model_permaslug FORMAT CSVWithNames"""
    ),
    end="",
)
