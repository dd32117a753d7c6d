"""Reads the metadata of a release with libraries of its standards, and prints what they read, as JSON.

Usage: metadata.py FOLDER, where FOLDER is that of a release.
"""

import csv
import json
import pathlib
import sys

import bibtexparser
import mlcroissant

FOLDER = pathlib.Path(sys.argv[1])


def read(name):
    return (FOLDER / name).read_text(encoding="utf-8")


def plain(value):
    """Text as text, numbers with all digits, dates as dates, nothing as an empty text."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode()
    return str(value.date()) if hasattr(value, "date") else str(value)


def rows(name, columns, missing):
    """The rows of a CSV file, without the texts that the reader of the records takes for a missing value."""
    with open(FOLDER / name, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield {column: "" if row[column] in missing else row[column] for column in columns}


def record_sets():
    """How many records and which columns each record set has, and which records differ from the rows of the CSV file."""
    dataset = mlcroissant.Dataset(jsonld=str(FOLDER / "croissant.json"))
    for record_set in dataset.metadata.record_sets:
        name, _, ending = record_set.uuid.rpartition("-")
        columns = [field.id.split("/")[1] for field in record_set.fields]
        records = [
            {key.split("/")[1]: plain(value) for key, value in record.items()}
            for record in dataset.records(record_set.uuid)
        ]
        expected = list(rows(f"{name}.csv", columns, {"null", "NaN"} if ending == "csv" else set()))
        differences = [pair for pair in zip(records, expected, strict=True) if pair[0] != pair[1]]
        yield record_set.uuid, {"records": len(records), "columns": columns, "differences": differences}


def entry(block):
    return {"type": block.entry_type, **{field.key: field.value for field in block.fields}}


json.dump(
    {
        "bibtex": [entry(block) for block in bibtexparser.parse_string(read("citation.bib")).entries],
        "record_sets": dict(record_sets()),
    },
    sys.stdout,
)
