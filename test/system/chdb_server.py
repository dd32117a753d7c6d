"""The current ClickHouse in this process (chdb), which answers over HTTP as a server does. Prints its port."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from chdb import session

engine = session.Session()
one_at_a_time = Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        query = self.body().decode()
        try:
            with one_at_a_time:
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
