"""Loads every configuration of the folder of a release, without the network.

Usage: hugging_face.py FOLDER. Prints JSON: for each configuration its columns with types, its number of rows, and the sum
of its tokens as text; then the rows of what is loaded without a name.
"""

import json
import sys

from datasets import get_dataset_config_names, load_dataset

FOLDER = sys.argv[1]


def describe(name):
    table = load_dataset(FOLDER, name, split="train")
    types = {column: feature.dtype for column, feature in table.features.items()}
    tokens = sum(table["total_tokens"])
    return {"types": types, "rows": table.num_rows, "tokens": str(tokens)}


tables = {name: describe(name) for name in get_dataset_config_names(FOLDER)}
json.dump({"tables": tables, "default": load_dataset(FOLDER, split="train").num_rows}, sys.stdout)
