"""Whoever reads a run reads what was written, or says that it was altered."""

from __future__ import annotations

import hashlib
import shutil

import polars as pl
import pytest

from goffman.runs.answers import parquet
from in_process import goffman

COMMANDS = (
    ("report", "RUN"),
    ("stress", "RUN", "--workers", "1"),
    ("check", "RUN", "--list"),
    ("check", "RUN", "--fail-if", "social-distance.gap > 9"),
    ("check", "OTHER", "--baseline", "RUN", "--list"),
    ("compare", "RUN", "OTHER"),
    ("compare", "OTHER", "RUN"),
    ("export", "RUN", "--to", "model-card"),
    ("export", "RUN", "--to", "lm-eval"),
    ("export", "RUN", "--to", "paper", "--output", "PAPER"),
)


def part_of(run):
    return next(iter(sorted(run.glob("answers/fills/*/social-distance/*.parquet"))))


def altered(run):
    """A bit of an answer is another one."""
    path = part_of(run)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    return f"parts ({path.name} damaged), so answers of "


def forged(run):
    """Every answer is another one, and the file is called as if it had been written so."""
    path = part_of(run)
    content = parquet(pl.read_parquet(path).with_columns(probability=1 - pl.col("probability")))
    path.unlink()
    own = hashlib.sha256(content).hexdigest()
    path.with_name(f"{path.stem[:-64]}{own}.parquet").write_bytes(content)
    return " does not have the parts that were written, so answers of "


def gone(run):
    part_of(run).unlink()
    return "parts, so answers of "


@pytest.mark.parametrize("alter", [altered, forged, gone])
def test_every_command_notices_answers_that_were_altered(alter, audited_little, tmp_path):
    run, other, paper = (tmp_path / name for name in ("run", "other", "paper"))
    for folder in (run, other):
        shutil.copytree(audited_little, folder)
    what = alter(run)
    places = {"RUN": run, "OTHER": other, "PAPER": paper}
    said = set()
    for command in COMMANDS if alter is altered else COMMANDS[:4]:
        done = goffman(*(places.get(word, word) for word in command))
        assert (done.returncode, done.stdout) == (2, ""), command
        said.add(done.stderr.splitlines()[-1])
    (sentence,) = said
    assert sentence.startswith(f"{part_of(other).parent}".replace(str(other), str(run)))
    assert what in sentence
    assert sentence.endswith("again: it asks only what is missing.")
    assert not paper.exists()


def test_every_command_notices_a_table_that_was_altered(audited_little, tmp_path):
    run, other, paper = (tmp_path / name for name in ("run", "other", "paper"))
    for folder in (run, other):
        shutil.copytree(audited_little, folder)
    scores = run / "scores.parquet"
    scores.write_bytes(scores.read_bytes() + b" ")
    places = {"RUN": run, "OTHER": other, "PAPER": paper}
    for command in COMMANDS:
        done = goffman(*(places.get(word, word) for word in command))
        assert done.returncode == 2, command
        assert f"{scores} was damaged or changed" in done.stderr
