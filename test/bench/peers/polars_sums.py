"""Tokens per day and model by polars: `polars_sums.py FORMAT FOLDER`, sums as CSV on stdout.

Checks of each record, as a data engineer would write them: timestamp, model and both counts are there and of their type,
the counts are not negative, the date is between 2015 and tomorrow. What fails is not in the sums and is counted on stderr.
Not done: models against a registry, duplicates, anything that is kept from run to run, a release.
"""

import sys
from datetime import datetime, timedelta, timezone

import polars as pl

ending, folder = sys.argv[1:]
files = f"{folder}/*.{ending}"
counts = ["prompt_tokens", "completion_tokens"]
if ending == "parquet":
    records = pl.scan_parquet(files)
else:
    texts = {"timestamp": pl.String, "model_permaslug": pl.String, **dict.fromkeys(counts, pl.Int64)}
    records = pl.scan_csv(files, schema=texts).with_columns(
        pl.col("timestamp").str.to_datetime("%Y-%m-%dT%H:%M:%S%.fZ", strict=False)
    )

tomorrow = datetime.now(timezone.utc).replace(tzinfo=None) + timedelta(days=1)
is_valid = (
    pl.col("timestamp").is_between(datetime(2015, 1, 1), tomorrow)
    & (pl.col("model_permaslug") != "")
    & (pl.col("prompt_tokens") >= 0)
    & (pl.col("completion_tokens") >= 0)
).fill_null(False)
sums = (
    records.group_by(pl.col("timestamp").dt.date().alias("day"), "model_permaslug", is_valid.alias("is_valid"))
    .agg((pl.col("prompt_tokens") + pl.col("completion_tokens")).sum().alias("tokens"), pl.len().alias("records"))
    .collect(engine="streaming")
)
rejected = sums.filter(~pl.col("is_valid"))["records"].sum()
if rejected > 0:
    print(f"{rejected} records rejected", file=sys.stderr)
sums.filter("is_valid").drop("is_valid").sort("day", "model_permaslug").write_csv(sys.stdout.buffer)
