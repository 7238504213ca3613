"""The same audit twice, in two folders: all that is written is the same, byte for byte."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
import vl_convert

from goffman.report.figures import in_one_order, pdf_of, svg_of
from in_process import goes_well

TELLS_THE_TIME = ("manifest.json", "lock")


def files(folder):
    """All files but what tells the time; lm-eval's format has it in two fields."""
    found = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in TELLS_THE_TIME
    }
    if "lm-eval" in found:
        told = json.loads(found["lm-eval"])
        del told["date"], told["total_evaluation_time_seconds"]
        found["lm-eval"] = told
    return found


def made_twice(base, make):
    """Both folders' files; ``make``: what is done in each."""
    found = []
    for name in ("first", "second"):
        (base / name).mkdir()
        make(base / name)
        found.append(files(base / name))
    assert found[0].keys() == found[1].keys()
    differ = sorted(name for name in found[0] if found[0][name] != found[1][name])
    assert not differ
    return found[0]


def audited(place, *asked, model="bundled:mini"):
    goes_well("audit", model, *asked, "--output", place / "run")


def test_the_tables_of_two_audits_are_the_same(tmp_path):
    asked = ("--instrument", "coreference", "--limit", "300", "--no-controls", "--no-report")
    found = made_twice(tmp_path, lambda place: audited(place, *asked))
    assert {"run/anchors.parquet", "run/anchor-points.parquet", "run/scores.parquet"} <= {*found}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "instrument"),
    [
        ("bundled:mini", "social-distance"),
        ("bundled:mini", "care-seeking"),
        ("bundled:mini-sentiment", "people-sentiment"),
        ("bundled:mini", "coreference"),
    ],
)
def test_all_that_is_made_of_two_audits_is_the_same(model, instrument, tmp_path):
    def make(place):
        few = ("--limit", "102", "--no-controls")
        audited(place, "--instrument", instrument, *few, model=model)
        run = place / "run"
        goes_well("stress", run, "--workers", "1")
        goes_well("export", run, "--to", "paper", "--output", place / "paper")
        for target in ("model-card", "lm-eval"):
            goes_well("export", run, "--to", target, "--output", place / target)

    found = made_twice(tmp_path, make)
    assert {name.rpartition(".")[2] for name in found} >= {"pdf", "png", "svg", "parquet", "html"}


SPEC = {
    "title": "In bold",
    "data": {"values": [{"x": 1, "y": 2, "z": "a"}, {"x": 2, "y": 1, "z": "b"}]},
    "mark": {"type": "point", "opacity": 0.5, "filled": True},
    "encoding": {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "y", "type": "quantitative"},
        "opacity": {"field": "z", "type": "nominal"},
    },
}


def test_a_drawing_is_always_the_same_pdf(tmp_path):
    svg = svg_of(SPEC)
    own = vl_convert.svg_to_pdf(svg)
    pdf = pdf_of(svg)
    assert {pdf_of(svg) for _ in range(8)} == {pdf}
    assert in_one_order(pdf) == pdf
    assert len(pdf) == len(own)
    # Nothing of it is lost: every object is where its table says, and there are as many.
    start = int(pdf.rsplit(b"startxref\n", 1)[1].split()[0])
    places = [int(line[:10]) for line in pdf[start:].splitlines() if line.endswith(b" n")]
    assert len(places) == own.count(b" 0 obj\n")
    for number, place in enumerate(places, 1):
        assert pdf[place:].startswith(b"%d 0 obj\n" % number)


def test_the_pdf_draws_what_the_library_s_own_does(tmp_path):
    drawn = []
    for name, pdf in (("own", vl_convert.svg_to_pdf(svg_of(SPEC))), ("ours", pdf_of(svg_of(SPEC)))):
        path = tmp_path / f"{name}.pdf"
        path.write_bytes(pdf)
        try:
            done = subprocess.run(["pdftoppm", path], capture_output=True, check=True)
        except FileNotFoundError:
            pytest.skip("there is no pdftoppm here")
        assert done.stderr == b""
        drawn.append(done.stdout)
    assert drawn[0] == drawn[1]


def test_what_a_drawing_is_cut_by_is_named_after_the_drawing_alone():
    cut = SPEC | {"mark": {"type": "line", "clip": True}}
    first, other, again = svg_of(cut), svg_of(cut | {"title": "Another"}), svg_of(cut)
    assert first == again
    names = [set(re.findall(r'id="(clip[^"]+)"', one)) for one in (first, other)]
    assert names[0]
    assert not names[0] & names[1]
    assert set(re.findall(r"url\(#(clip[^)]+)\)", first)) == names[0]
