"""Tokens per day and model by pandas, with the checks of pandera: `pandas_sums.py FORMAT FOLDER`, sums as CSV on stdout.

One file at a time, so that memory does not grow with the history. Checks of each record: timestamp, model and both counts
are there and of their type, the counts are not negative, the date is between 2015 and tomorrow. What fails ends the run.
Not done: models against a registry, duplicates, anything that is kept from run to run, a release.
"""

import sys
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

ending, folder = sys.argv[1:]
tomorrow = pd.Timestamp.now("UTC").tz_localize(None) + pd.Timedelta(days=1)
count = pa.Column("int64", pa.Check.ge(0))
schema = pa.DataFrameSchema(
    {
        "timestamp": pa.Column(None, pa.Check.in_range(pd.Timestamp("2015-01-01"), tomorrow)),
        "model_permaslug": pa.Column(None, pa.Check.ne("")),
        "prompt_tokens": count,
        "completion_tokens": count,
    }
)


def read(path: Path) -> pd.DataFrame:
    if ending == "parquet":
        return pd.read_parquet(path)
    frame = pd.read_csv(path)
    frame["timestamp"] = pd.to_datetime(frame["timestamp"], format="%Y-%m-%dT%H:%M:%S.%fZ")
    return frame


def sums_of(path: Path) -> pd.DataFrame:
    frame = schema.validate(read(path))
    frame = frame.assign(
        day=frame["timestamp"].dt.floor("D"),
        tokens=frame["prompt_tokens"] + frame["completion_tokens"],
    )
    return frame.groupby(["day", "model_permaslug"], as_index=False).agg(tokens=("tokens", "sum"), records=("tokens", "size"))


parts = pd.concat([sums_of(path) for path in sorted(Path(folder).glob(f"*.{ending}"))])
sums = parts.groupby(["day", "model_permaslug"], as_index=False).sum()
sums.to_csv(sys.stdout, index=False, date_format="%Y-%m-%d")
