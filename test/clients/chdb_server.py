"""
The current ClickHouse in this process (chdb), which answers over HTTP as a server does. Prints its port. Its own folder is
the argument. Settings of a URL are those of all that is asked after. In the cluster "alone" it is the only shard; in "doubled" it is two, so that every record lies on both.
"""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from urllib.parse import parse_qsl, urlsplit

import chdb

SHARD = "<shard><replica><host>localhost</host><port>9000</port></replica></shard>"
CONFIG = f"""<clickhouse>
  <tcp_port>9000</tcp_port>
  <remote_servers><alone>{SHARD}</alone><doubled>{SHARD}{SHARD}</doubled></remote_servers>
</clickhouse>"""

NO_SETTINGS = {"query_id", "database", "default_format", "wait_end_of_query"}

folder = Path(sys.argv[1])
(folder / "config.xml").write_text(CONFIG)
engine = chdb.connect(f"{folder / 'data'}?config-file={folder / 'config.xml'}")
one_at_a_time = Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        query = self.body().decode()
        try:
            with one_at_a_time:
                for name, value in parse_qsl(urlsplit(self.path).query):
                    if name not in NO_SETTINGS:
                        engine.query(f"SET {name} = '{value}'")
                body = engine.query(query, "TabSeparated").bytes()
            self.answer(200, body)
        except Exception as error:
            self.answer(500, str(error).encode())

    def body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"]))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
