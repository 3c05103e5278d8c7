"""HTTP on the loopback: GraphQL, file streams, uploads; and faults on request."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.wandb_server.answers import Answers
from tests.support.wandb_server.project import Project, StoredRun

KEY = "local-" + "0" * 40
"""A key that the client takes; the server looks at none unless it is told to refuse it."""

DROP = 0
"""The status of a fault that closes the connection without an answer."""


@dataclass
class Fault:
    """What the next `times` requests to paths that hold `path` get instead of an answer."""

    status: int
    path: str
    times: float


@dataclass
class WandbServer:
    """A server that runs; `project` is what was sent, `requests` each path in order, and what GraphQL did."""

    url: str
    project: Project = field(default_factory=Project)
    requests: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answers = Answers(self.project, self.url)

    def clear(self) -> None:
        """Forgets everything that was sent, and the faults."""
        self.project, self.requests, self.faults = Project(), [], []
        self.answers = Answers(self.project, self.url)

    def fail(self, status: int, path: str = "/", times: float = 1) -> None:
        """Answers the next requests to `path` with `status`, or not at all with `DROP`."""
        self.faults.append(Fault(status, path, times))

    def fault(self, path: str) -> Fault | None:
        """The fault that this request meets; it is counted."""
        for each in self.faults:
            if each.times > 0 and each.path in path:
                each.times -= 1
                return each
        return None

    def run(self, name: str) -> StoredRun:
        """A run that was sent."""
        return self.project.runs[name]

    def until(self, condition: Callable[[], object], seconds: float = 20) -> None:
        """Waits until `condition` holds.

        Raises:
            TimeoutError: if it does not in that time.
        """
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError(f"the server saw only {self.requests[-20:]}")
            time.sleep(0.02)


@contextmanager
def serving() -> Iterator[WandbServer]:
    """A server on a free port of the loopback, while the body runs."""
    http = _Http(("127.0.0.1", 0), _Handler)
    http.server = WandbServer(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield http.server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    # A connection that does not fit is tried again after a second.
    request_queue_size = 128
    server: WandbServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no error of the server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Else a body waits up to 40 ms until the client has acknowledged the headers, which are sent before it.
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing is written to the terminal."""

    def _request(self) -> None:
        server, body = self.server.server, self._body()
        content = json.loads(body) if self.path.startswith(("/graphql", "/files/")) and body else {}
        name = self.path
        if self.path == "/graphql":
            name += f" {content.get('operationName') or content['query'].split('(')[0].split('{')[0].strip()}"
        server.requests.append(name)
        if (fault := server.fault(name)) is not None:
            if fault.status == DROP:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self._answer(fault.status, {"errors": [{"message": f"status {fault.status}"}]})
        elif self.path == "/graphql":
            self._answer(200, server.answers(content["query"], content.get("variables") or {}))
        elif self.path.endswith("/file_stream"):
            server.project.run(self.path.split("/")[-2]).streamed(content)
            self._answer(200, {})
        elif self.path.startswith("/upload/run/"):
            _, _, _, run, file = self.path.split("/", 4)
            server.project.run(run).files[file] = body
            self._answer(200, {})
        else:
            if self.path.startswith("/upload/"):
                server.project.uploads[self.path.removeprefix("/upload/")] = body
            self._answer(200, {})

    do_GET = do_POST = do_PUT = do_HEAD = _request  # noqa: N815

    def _body(self) -> bytes:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        return gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body

    def _answer(self, status: int, content: Any) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
