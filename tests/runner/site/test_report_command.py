"""``python -m runner.report``: what it refuses, in one sentence each, and what ``--watch`` gives out."""

from __future__ import annotations

import importlib.util
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.execution.errors import UserError
from runner.site import watch
from runner.site.build import Built, Report
from runner.site.pages.site_folder import INDEX, MARKER, SiteFolder
from runner.site.report_command import main
from runner.site.watch import server_of


@pytest.fixture
def empty(tmp_path: Path) -> Report:
    (tmp_path / "outputs").mkdir()
    return Report(tmp_path / "outputs", tmp_path / "site")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["output_root=nowhere"], "output_root must be a folder with results, 'nowhere' was given"),
        (["pt_table1"], "The report is made of output_root=DIR alone, 'pt_table1' was given."),
        (
            ["--port", "70000", "output_root=."],
            "--port must be a whole number from 0 to 65535, 70000 was given.",
        ),
        (["--config-dir", "none", "output_root=."], "--config-dir must be a folder, 'none' was given."),
        (["--wach"], "nrecognized arguments: --wach"),
    ],
)
def test_a_mistake_is_one_sentence(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_ours_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "report" / "thesis.txt"
    own.parent.mkdir()
    own.write_text("years of work")
    assert main([f"output_root={tmp_path}"]) == 2
    assert "The report is not written to" in capsys.readouterr().err
    assert own.read_text() == "years of work"
    assert list(own.parent.iterdir()) == [own]
    with pytest.raises(UserError, match="is not written to"):
        SiteFolder(own)


def test_one_run_is_no_plural(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Report, "build", lambda self: Built(runs=1, pages=2))
    assert main([f"output_root={tmp_path}"]) == 0
    assert capsys.readouterr().out.startswith("1 run, 2 pages made in ")


def test_without_the_extra_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "plotly" else found(name, *more)
    )
    assert main([f"output_root={tmp_path}"]) == 2
    err = capsys.readouterr().err
    assert err == "error: The report needs the extra 'report' (plotly): pip install -e '.[report]' adds it.\n"
    assert not list(tmp_path.iterdir())


def test_a_store_without_runs_has_a_report(empty: Report) -> None:
    assert empty.build().runs == 0
    assert "0 runs under" in (empty.site.path / "index.html").read_text()
    assert (empty.site.path / MARKER).is_file()


@pytest.fixture
def address(empty: Report) -> Iterator[str]:
    empty.build()
    server = server_of(empty, 0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_the_served_report_says_when_a_page_was_changed(address: str) -> None:
    with urllib.request.urlopen(f"{address}/index.html") as answer:
        assert answer.headers["Last-Modified"]
        assert "rungwise_live=1" in answer.headers["Set-Cookie"]
        assert b"Experiments" in answer.read()
    for hidden in (INDEX, MARKER, "../outputs", "a%00b"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}/{hidden}")


def test_a_page_that_is_closed_while_it_is_sent_is_no_error(
    empty: Report, capsys: pytest.CaptureFixture[str]
) -> None:
    server = server_of(empty, 0)
    for error in (ConnectionResetError("reset by peer"), KeyError("a fault")):
        try:
            raise error
        except (ConnectionError, KeyError):
            server.handle_error(None, ("127.0.0.1", 1))  # type: ignore[arg-type]
    server.server_close()
    said = capsys.readouterr().err
    assert "KeyError: 'a fault'" in said
    assert "ConnectionResetError" not in said


def test_a_look_that_fails_again_is_said_once(
    empty: Report, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(report: Report) -> None:
        raise PermissionError(13, "Permission denied", "config.yaml")

    monkeypatch.setattr(time, "sleep", lambda _: None)
    monkeypatch.setattr(Report, "build", refused)
    said = watch._look(empty)
    assert watch._look(empty, said) == said != ""
    assert capsys.readouterr().err.count("warning: the report is not up to date: ") == 1


def test_a_port_in_use_is_one_sentence(empty: Report) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UserError, match=f"--port {port} is in use; name another one, or 0"):
            server_of(empty, port)
