"""Serves the rows of a release from SQLite with Datasette: `datasette_server.py RANKINGS_CSV DATABASE PORT`.

Prints `listening URL` when it can be asked. A window is
`/rankings/rankings.json?_shape=objects&_size=max&date__gte=…&date__lte=…`, with an index on the date.
Not done: keys, limits, a log of requests, validation beyond Datasette's own, ranks and shares, an ETag.
"""

import csv
import sqlite3
import sys

import uvicorn
from datasette.app import Datasette

rankings, database, port = sys.argv[1:]
MOST_ROWS = 5000

with sqlite3.connect(database) as connection, open(rankings, newline="") as file:
    rows = csv.reader(file)
    if next(rows) != ["date", "model_permaslug", "total_tokens"]:
        raise SystemExit(f"{rankings} has other columns")
    connection.execute("CREATE TABLE rankings (date TEXT, model_permaslug TEXT, total_tokens INTEGER)")
    connection.executemany("INSERT INTO rankings VALUES (?, ?, ?)", rows)
    connection.execute("CREATE INDEX rankings_date ON rankings (date)")


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets=sockets)
        print(f"listening http://127.0.0.1:{port}", flush=True)


datasette = Datasette([database], settings={"max_returned_rows": MOST_ROWS})
Server(uvicorn.Config(datasette.app(), host="127.0.0.1", port=int(port), log_level="warning")).run()
