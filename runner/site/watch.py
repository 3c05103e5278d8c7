"""Serves the report on this computer alone, and brings it up to date while a sweep runs."""

from __future__ import annotations

import errno
import functools
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from runner.execution.errors import UserError, one_sentence, warn
from runner.site.build import Report
from runner.site.pages.site_folder import ASIDE

HOST = "127.0.0.1"
EVERY_SECONDS, LATEST_SECONDS, SHARE = 2.0, 10.0, 0.2
"""Least and longest wait between two looks at the disk, and how much of it a look may take."""


class LiveHandler(SimpleHTTPRequestHandler):
    """Gives out the report; a cookie tells its pages that they may change."""

    def end_headers(self) -> None:
        self.send_header("Set-Cookie", "rungwise_live=1; SameSite=Strict")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def translate_path(self, path: str) -> str:
        if "%00" in path:  # no file has such a name
            return ""
        found = super().translate_path(path)
        return "" if found.endswith(ASIDE) else found

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing of each file that is given out."""


class LiveServer(ThreadingHTTPServer):
    """Says nothing of a page that was closed while a file of it was on its way."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def server_of(report: Report, port: int) -> ThreadingHTTPServer:
    """The server of a report; port 0 takes a free one.

    Raises:
        UserError: if another process has the port, or it needs rights that this one lacks.
    """
    handler = functools.partial(LiveHandler, directory=str(report.site.path))
    try:
        return LiveServer((HOST, port), handler)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        why = "is in use" if error.errno == errno.EADDRINUSE else "needs more rights than this process has"
        raise UserError(f"--port {port} {why}; name another one, or 0 for any that is free.") from error


def _look(report: Report, said: str = "") -> str:
    """Brings the report up to date, and waits; what a sweep is just replacing is read the next time.

    Returns:
        Why it could not be, in a sentence that is printed unless it is `said` already; nothing if it could.
    """
    start, why = time.monotonic(), ""
    try:
        report.build()
    except FileNotFoundError:
        pass
    except (OSError, UserError) as error:
        why = f"the report is not up to date: {one_sentence(error)}"
        if why != said:
            warn(why)
    taken = time.monotonic() - start
    time.sleep(min(max(EVERY_SECONDS, taken / SHARE), LATEST_SECONDS))
    return why


def watch(report: Report, port: int) -> int:
    """Serves the report until the process is told to stop."""
    server = server_of(report, port)
    report.build()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    print(f"http://{HOST}:{server.server_port}/ is kept up to date; Ctrl-C ends it.", flush=True)
    said = ""
    try:
        while True:
            said = _look(report, said)
    except KeyboardInterrupt:
        pass
    finally:
        server.shutdown()
        server.server_close()
    return 0
