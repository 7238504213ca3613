"""What an audit leaves in its folder for people: a page, a picture, results and a README."""

from __future__ import annotations

import base64
import csv
import html
import json
import re
import struct
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

import goffman
from goffman.presentation.section import Caveat, Finding
from goffman.report.card import Card, card_of, card_png, card_svg, run_id
from goffman.report.overview import strength
from goffman.report.summary import MainResult, main_results
from goffman.report.table_files import RESULTS
from in_process import goes_well
from in_process import goffman as command

WRITTEN = {"README.md", "card.png", "report.html", "results.csv"}
HOSTILE = "=cmd|<script>alert(1)</script>&`[x](y)`" + "m" * 200


def results(folder):
    with (folder / "results.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def texts(card):
    return [html.unescape(one) for one in re.findall(r"<text[^>]*>([^<]*)<", card_svg(card))]


@pytest.fixture(scope="module")
def run(audited_little):
    return goffman.open_run(audited_little)


def test_an_audit_leaves_few_files_beside_its_data(audited_little):
    there = {path.name for path in audited_little.iterdir() if path.suffix != ".parquet"}
    assert there == {*WRITTEN, "answers", "lock", "manifest.json"}


def test_results_are_a_row_each_with_the_numbers_of_the_estimates(run):
    rows = results(run.folder)
    assert tuple(rows[0]) == RESULTS
    found = main_results(run.measured.sections)
    assert len(rows) == len(found) == 2
    for row, one in zip(rows, found, strict=True):
        assert row["verdict"] == one.verdict
        assert row["caveats"].split() == [caveat.id for caveat in one.finding.caveats]
        if one.verdict == "not measurable":
            assert {row[name] for name in ("difference", "low", "high", "n")} == {""}
            continue
        estimate = run.estimate(f"{row['instrument']}.heading")
        assert float(row["difference"]) == estimate.value
        for name in ("low", "high", "level", "margin", "n", "unit"):
            assert row[name] == str(estimate.row[name])


def test_the_readme_says_what_was_found_and_what_each_caveat_is_called(run):
    text = (run.folder / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# A goffman run: run\n")
    for one in main_results(run.measured.sections):
        assert f"{one.glyph} {one.verdict} |" in text
        for caveat in one.finding.caveats:
            assert caveat.id in text
    for name in ("report.html", "card.png", "results.csv", "estimates.parquet"):
        assert f"`{name}`" in text
        assert (run.folder / name).is_file()
    assert f"run {run_id(run.measured)} of " in text
    assert text.count("\n") < 60
    # Nothing in it is markup of somebody else's.
    kinds = {token.type for token in MarkdownIt("commonmark").enable("table").parse(text)}
    assert "html_block" not in kinds


def test_the_card_is_on_the_page_and_has_its_size(run):
    picture = (run.folder / "card.png").read_bytes()
    assert struct.unpack(">II", picture[16:24]) == (1200, 630)
    assert len(picture) < 150_000
    page = (run.folder / "report.html").read_text(encoding="utf-8")
    (link,) = re.findall(r'<a [^>]*download="run.png" href="data:image/png;base64,([^"]+)"', page)
    assert base64.b64decode(link) == picture
    assert card_png(card_of(run.measured)) == picture


def test_the_card_says_what_the_page_says(run):
    card = card_of(run.measured)
    said = texts(card)
    for one in card.results:
        assert one.verdict in said
    assert any(card.headline.startswith(line.rstrip(" …")) for line in said[:1])
    assert any("2 instruments" in line and "sentences" in line for line in said)
    assert said[-2:] == [
        "Shaded: too small to matter. Line: 95% interval. Associations in text, not proof of harm.",
        f"goffman {goffman.__version__} · run · {run_id(run.measured)}",
    ]


def result(model="m", instrument="social-distance", verdict="relevant", difference=0.2):
    finding = Finding(
        model=model,
        head="A difference",
        short="More negative about stigmatized conditions",
        text="",
        difference=difference,
        low=difference - 0.1,
        high=difference + 0.1,
        margin=0.05,
        verdict=verdict,
        shown=verdict,
        caveats=(Caveat(id="one-wording", short="one wording only", text=""),),
    )
    return MainResult(instrument=instrument, finding=finding)


def card(*of, **more):
    given = {"headline": "More", "who": "m", "source": "here", "results": tuple(of)}
    return Card(**given | more)


def test_of_many_results_the_strongest_are_shown():
    words = ("inconclusive", "relevant", "present, size uncertain", "negligible")
    every = [
        result(verdict=word, difference=size / 10, instrument=f"i{size}")
        for size, word in enumerate(words * 3, start=1)
    ]
    said = texts(card(*sorted(every, key=strength)))
    shown = [line for line in said if line in words]
    assert shown == ["relevant"] * 3 + ["present, size uncertain"] * 3
    assert [line for line in said if re.fullmatch(r"i\d+", line)][:3] == ["i10", "i6", "i2"]
    assert "6 more in the report. * One wording only." in said


def test_many_models_are_counted_and_not_ranked():
    words = ("relevant", "inconclusive")
    every = [result(model=f"model-{n}", verdict=words[n % 2]) for n in range(7)]
    said = texts(card(*every))
    assert "4 relevant" in said
    assert "3 inconclusive" in said
    assert not [line for line in said if "model-" in line]


def test_a_hostile_name_is_text_and_does_not_run_over(run):
    measured = run.measured
    given = card(result(model=HOSTILE), result(), headline=HOSTILE, who=HOSTILE, source=HOSTILE)
    svg = card_svg(given)
    assert "<script" not in svg
    said = texts(given)
    assert max(map(len, said)) <= 108
    named = {**measured.manifest.models, HOSTILE: next(iter(measured.manifest.models.values()))}
    renamed = replace(measured, manifest=replace(measured.manifest, models=named))
    assert len(card_of(renamed).who) <= 108
    assert card_png(given).startswith(b"\x89PNG")


@pytest.mark.parametrize("target", ["figures", "tables"])
def test_figures_and_tables_are_written_on_request(target, run, tmp_path):
    folder = tmp_path / "out"
    done = goes_well("export", run.folder, "--to", target, "--output", folder)
    files = {path.name for path in folder.iterdir()}
    assert (
        done.stderr == f"{len(files)} files are in {folder}. Begin with {folder / 'README.md'}.\n"
    )
    endings = {"figures": ("svg", "png", "pdf"), "tables": ("csv", "md", "tex")}[target]
    stems = {name.rsplit(".", 1)[0] for name in files if name.endswith(endings[0])}
    assert len(stems) >= 5
    last = endings[1:]
    assert {f"{one}.{end}" for one in stems for end in last if "-all-" not in one} <= files
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert all(one in text for one in stems if "-all-" not in one)
    refused = command("export", run.folder, "--to", target, "--output", run.folder)
    assert refused.returncode == 2
    assert "contains other files" in refused.stderr


def test_the_ids_of_caveats_are_the_same_everywhere(run, tmp_path):
    """On the page's footnotes, in results.csv, JSON, check, a card, lm-eval and a paper's CSV."""
    wanted = {
        one.instrument: [caveat.id for caveat in one.finding.caveats]
        for one in main_results(run.measured.sections)
    }
    assert any(wanted.values())

    def told(*words):
        return json.loads(command(*words).stdout)

    assert {row["instrument"]: row["caveats"].split() for row in results(run.folder)} == wanted
    of_report = told("report", run.folder, "--json")["results"]
    assert {one["instrument"]: one["caveats"] for one in of_report} == wanted
    listed = {one["name"]: one["caveats"] for one in told("check", run.folder, "--list", "--json")}
    of_lm_eval = told("export", run.folder, "--to", "lm-eval")["caveats"]
    card = command("export", run.folder, "--to", "model-card").stdout
    for instrument, ids in wanted.items():
        assert listed[run.estimate(f"{instrument}.heading").name] == ids
        assert list(run.estimate(f"{instrument}.heading").caveats) == ids
        assert of_lm_eval.get(instrument, []) == ids
        assert all(f"- `{one}`: " in card for one in ids)
