"""A receiver of webhooks in a thread of its own, which does as it is told: takes, fails, hangs, lies."""

import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """``answers`` has what to do with the next requests, and ``then`` what to do with those after them.

    An answer is a status, a pair of a status and headers, or a function of the connection.
    """

    def __init__(self, then=204):
        self.answers, self.then, self.got = [], then, []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}/hook"

    def _handler(receiver):  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                if len(body) < int(self.headers["content-length"]):
                    self.close_connection = True  # whoever sent it was killed
                    return
                receiver.got.append((dict(self.headers), body))
                answer = receiver.answers.pop(0) if receiver.answers else receiver.then
                if callable(answer):
                    self.close_connection = True
                    answer(self.connection)
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        return Handler

    @property
    def told(self):
        """What was sent, parsed."""
        return [json.loads(body) for _, body in self.got]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def hangs(connection):
    """Says nothing, until the other side has gone."""
    connection.settimeout(10.0)
    connection.recv(1)


def hangs_up(connection):
    """Ends without a word."""
    connection.shutdown(socket.SHUT_RDWR)


def babbles(connection):
    """No HTTP."""
    connection.sendall(b"\0\xff hello\r\n\r\n")


def promises(connection):
    """A status that is fine, and a body that never ends."""
    connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n")
    end = time.monotonic() + 5.0
    try:
        while time.monotonic() < end:
            connection.sendall(b"x" * 4096)
            time.sleep(0.01)
    except OSError:
        pass


def drips(connection):
    """Headers that come a letter at a time."""
    try:
        for letter in b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1000:
            connection.sendall(bytes([letter]))
            time.sleep(0.05)
    except OSError:
        pass
