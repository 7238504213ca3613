"""Only plain files are read, and only up to so many bytes."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from goffman.errors import InputError, did_you_mean
from goffman.instruments.files import read_plain


def refusal(path: Path, most: int = 10) -> str:
    with pytest.raises(InputError) as caught:
        read_plain(path, most=most)
    return str(caught.value)


def test_a_file_of_as_many_bytes_as_allowed_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    assert read_plain(path, most=10) == b"0123456789"
    (tmp_path / "link").symlink_to(path)
    assert read_plain(tmp_path / "link", most=10) == b"0123456789"


def test_one_byte_more_is_refused_with_the_bound_and_what_was_given(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"0123456789a")
    assert refusal(path) == f"{path} has 11 bytes. Allowed: up to 10."
    os.truncate(path, 3_000_000_000)
    assert refusal(path) == f"{path} has 3,000,000,000 bytes. Allowed: up to 10."


def test_a_file_that_hides_its_size_is_read_no_further_than_allowed() -> None:
    path = Path("/proc/self/mountinfo")
    if not path.exists():
        pytest.skip("there is no /proc here")
    assert path.stat().st_size == 0
    assert refusal(path) == f"{path} has 11 bytes. Allowed: up to 10."


def test_what_is_no_plain_file_is_refused_by_its_kind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
        for path, kind in (
            (tmp_path, "a folder"),
            (tmp_path / "pipe", "a named pipe"),
            (tmp_path / "link", "a named pipe"),
            (tmp_path / "socket", "a socket"),
            (Path("/dev/zero"), "a device"),
        ):
            assert refusal(path) == f"{path} is {kind}. Give a regular file."


def test_a_missing_file_is_the_callers_to_tell(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "nowhere")


def test_no_near_name_is_sought_for_a_long_text() -> None:
    assert did_you_mean("guardd", ["guard"]) == " Did you mean 'guard'?"
    assert did_you_mean("oberta-base", ["roberta-base"]) == " Did you mean 'roberta-base'?"
    assert did_you_mean("nowhere", ["other"]) == ""
    assert did_you_mean("x" * 101, ["x" * 100]) == ""
