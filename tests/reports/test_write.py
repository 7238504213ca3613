"""goffman report, and the report at the end of an audit: what is written where, and said."""

from __future__ import annotations

import csv
import html
import json
import re
from importlib.resources import files

import polars as pl
import pytest
from typer.testing import CliRunner

from goffman.cli.main import app
from goffman.errors import GoffmanError, RunError
from goffman.export.model_card import model_card_text
from goffman.formatting import labels_of, short_names
from goffman.pipeline import AskOptions, MeasureOptions, audit
from goffman.presentation.table_formats import markdown_text
from goffman.report.load import read_run
from goffman.report.page import about_run
from goffman.report.table_files import tables_of
from goffman.report.write import write_report
from goffman.runs.manifest import AskedInstrument, Manifest

pytestmark = pytest.mark.slow


def test_a_report_is_one_file_that_names_no_other(audited):
    text = (audited / "report.html").read_text(encoding="utf-8")
    page = re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r'(?:src|srcset)=["\'](?!data:)', page)
    assert not re.findall(r'href=["\'](?!#|data:image/png;base64,)', page)
    policy = html.unescape(re.search(r'Security-Policy" content="([^"]+)"', page)[1])
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "http" not in policy
    assert "unsafe-eval" not in policy
    assert len(text.encode()) < 6_000_000


def test_the_command_says_where_the_report_lies(little):
    done = CliRunner().invoke(app, ["report", str(little)])
    assert done.exit_code == 0, done.output
    assert f"Report   {little / 'report.html'}" in done.stdout.splitlines()
    as_json = CliRunner().invoke(app, ["report", str(little), "--json"])
    assert json.loads(as_json.stdout)["report"] == str(little / "report.html")


def of_instrument(page, name):
    """The section of an instrument, without its drawings."""
    section = re.search(rf'<section id="i-{name}".*?</section>', page, re.DOTALL)[0]
    return html.unescape(re.sub(r"<svg.*?</svg>", "", section, flags=re.DOTALL))


def changed_called(run, name, change):
    """The run as one of an instrument that calls things otherwise."""
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest["instruments"][name]["called"])
    path.write_text(json.dumps(manifest))


def test_an_instrument_says_its_noun_and_its_limits_on_the_page_and_in_tables(run):
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "The sentences are in English." in of_instrument(page, "care-seeking")
    assert '<h2 id="h-find">Explore the conditions</h2>' in page
    changed_called(
        run,
        "care-seeking",
        lambda called: called.update(
            nouns={"condition": ["illness", "illnesses"]}, limits=["A few <illnesses> only."]
        ),
    )
    write_report(run)
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "A few &lt;illnesses&gt; only." in page
    section = of_instrument(page, "care-seeking")
    assert "The sentences are in English." not in section
    for said in (
        "By illness",
        "Means over the illnesses.",
    ):
        assert said in section
    assert "mental health diagnoses" not in section.lower()
    assert "diagnoses" in of_instrument(page, "attribution")
    read = read_run(run)
    tables = {table.name: markdown_text(table) for table in tables_of(read)}
    assert "| illness |" in tables["care-seeking-conditions"]
    assert "n is the number of items × illnesses" in tables["care-seeking-genders"]
    model = next(name for name, of in read.manifest.answers.items() if "care-seeking" in of)
    card = model_card_text(read, model)
    assert "- A few &lt;illnesses&gt; only.\n" in card
    assert card.count("The sentences are in English, and the list of stigmas comes from") == 1


def test_a_run_of_an_earlier_goffman_speaks_of_conditions_and_has_no_limits(run):
    def forget(called):
        for key in ("nouns", "limits", "language"):
            del called[key]

    for name in ("social-distance", "care-seeking", "attribution", "people-sentiment"):
        changed_called(run, name, forget)
    write_report(run)
    section = of_instrument((run / "report.html").read_text(encoding="utf-8"), "care-seeking")
    assert "By condition" in section
    assert "The sentences are in English." not in section


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError) as refusal:
        write_report(tmp_path)
    assert str(refusal.value) == (
        f"'{tmp_path}' is not a run, because it has no manifest.json. Give the folder that goffman "
        "audit wrote."
    )
    assert not (tmp_path / "report.html").exists()


def test_an_audit_reports_unless_told_not_to(tiny, shortened, tmp_path):
    model, instrument = str(tiny("bert")), str(shortened / "care-seeking")
    arguments = ["audit", model, "--instrument", instrument, "--limit", "6", "--output"]
    with_page = CliRunner().invoke(app, [*arguments, str(tmp_path / "one")])
    assert f"Report   {tmp_path / 'one' / 'report.html'}" in with_page.stdout.splitlines()
    assert (tmp_path / "one" / "report.html").exists()
    _, screen, *_ = with_page.stdout.split("\n\n")
    model, row, sentence, *_ = screen.splitlines()
    assert model.startswith("bert (not measurable) ")
    assert row == "  ✕ care-seeking          not measurable"
    assert sentence == "    Not measurable."
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "one"), "care-seeking"])
    assert shown.stdout.startswith(
        "care-seeking, bert (not measurable)\n  Not measurable.\n  Control items: bert cannot "
    )
    odd = CliRunner().invoke(app, ["show", str(tmp_path / "one"), "care-seking"])
    assert "has no results of 'care-seking'. Did you mean 'care-seeking'?" in str(odd.exception)
    page = (tmp_path / "one" / "report.html").read_text(encoding="utf-8")
    assert "not measurable" in of_instrument(page, "care-seeking")
    again = CliRunner().invoke(app, ["report", str(tmp_path / "one")])
    assert f"\n\n{screen}\n\n" in again.stdout
    without = CliRunner().invoke(app, [*arguments, str(tmp_path / "two"), "--no-report"])
    assert "report.html" not in without.stdout
    assert not (tmp_path / "two" / "report.html").exists()
    assert not [*(tmp_path / "two").glob("*.png"), *(tmp_path / "two").glob("*.csv")]


def test_ratings_that_are_no_longer_here_are_said_and_the_words_stand_without(
    tiny, shortened, tmp_path
):
    mine = tmp_path / "mine.csv"
    mine.write_text("word,label\nlikely,negative\n")
    folder = tmp_path / "run"
    audit(
        [str(tiny("bert"))],
        instruments=[str(shortened / "social-distance")],
        output=folder,
        options=AskOptions(controls=False, limit=20),
        measuring=MeasureOptions(ratings=(mine,)),
    )
    assert write_report(folder).notes == ()
    mine.write_text("word,label\nlikely,positive\n")
    (note,) = write_report(folder).notes
    assert note == (
        "The lists of ratings or gender words have changed since the run was scored. So the "
        "report does not show ratings of words. The scores are unchanged."
    )
    assert note in (folder / "report.html").read_text()


def test_a_run_with_a_few_prompts_and_no_contrast_has_a_report(tiny, tmp_path):
    """The first prompts are all of one condition, so that there is nothing to compare."""
    folder = tmp_path / "run"
    audit(
        [str(tiny("bert"))], output=folder, options=AskOptions(controls=False, limit=3), report=True
    )
    assert (folder / "report.html").exists()


def test_models_are_called_by_as_much_of_their_path_as_tells_them_apart():
    assert short_names(["/a/b/mini", "roberta-base", "org/name"]) == {
        "/a/b/mini": "mini",
        "roberta-base": "roberta-base",
        "org/name": "org/name",
    }
    assert short_names(["/a/one/mini", "/a/two/mini"]) == {
        "/a/one/mini": "one/mini",
        "/a/two/mini": "two/mini",
    }
    remote = ["http://127.0.0.1:8000/v1#org/mini", "https://h/v1#mini", "openai:gpt"]
    assert list(short_names(remote).values()) == ["org/mini", "mini", "gpt"]
    twice = ["http://a/v1#mini", "http://b/v1#mini"]
    assert list(short_names(twice).values()) == twice
    assert short_names(["/x\u202e"]) == {"/x\u202e": "x\\u202e"}


def asked(called):
    entry = {"version": "1", "digest": "d", "prompts": 1, "prompts_sha256": "p"}
    return AskedInstrument.of({**entry, "called": called})


def test_names_are_those_of_the_manifest_and_ids_where_it_has_none():
    called = {
        "title": "A <b>title\u202e",
        "citation": "Someone (2026)",
        "conditions": {"latina-latino": "Latina/Latino", "one": "Same", "two": "Same"},
        "items": {"rent-room": "rent a room in my home to {who}."},
    }
    known = labels_of(Manifest(instruments={"mine": asked(called)}))
    assert known.condition("mine", "latina-latino") == "Latina/Latino"
    assert known.condition("mine", "two") == "Same (two)"
    assert known.condition("mine", "baseline") == "(no condition named)"
    assert known.item("mine", "rent-room") == "rent a room in my home to …"
    assert known.title("mine") == "A <b>title\\u202e"
    other = labels_of(Manifest())
    assert other.condition("mine", "latina-latino") == "latina latino"
    assert other.condition("mine", "non-stigmatized") == "non-stigmatized"
    assert other.title("mine") == "mine"


def test_an_instrument_of_one_s_own_has_its_names_in_the_page_without_its_files(measured, audited):
    """The run's instruments are folders that no built-in name leads to; they may be gone."""
    page = (audited / "report.html").read_text(encoding="utf-8")
    names = labels_of(measured.manifest)
    table = files("goffman") / "instruments/data/social-distance/conditions.csv"
    with table.open(newline="", encoding="utf-8") as file:
        given = {row["condition"]: row["name"] for row in csv.DictReader(file)}
    asked = measured.prompts.filter(instrument="social-distance")["condition"]
    assert len(set(asked)) == 13
    for condition in set(asked) - {"baseline"}:
        assert names.condition("social-distance", condition) == given[condition]
        assert f'"{given[condition]}"' in page


def test_a_report_is_of_what_is_on_disk(little):
    """Scores that were taken away are asked for, not made up."""
    (little / "card.png").unlink()
    (little / "scores.parquet").unlink()
    with pytest.raises(RunError, match="the run has not been measured yet"):
        write_report(little)
    assert not (little / "card.png").exists()


def test_a_page_that_cannot_be_written_is_named(little):
    (little / "report.html").unlink()
    (little / "report.html").mkdir()
    with pytest.raises(GoffmanError) as raised:
        write_report(little)
    assert str(raised.value) == (
        f"report.html in {little} is a folder, not a file. Move it away and run the "
        "same command again."
    )


@pytest.mark.parametrize("name", ["scores.parquet", "estimates.parquet"])
def test_a_table_that_was_changed_is_told_and_not_used(little, name):
    """Another number, in a table of the right form."""
    frame = pl.read_parquet(little / name)
    column = "value" if name == "scores.parquet" else "difference"
    frame.with_columns(pl.col(column) + 0.1).write_parquet(little / name)
    page = (little / "report.html").read_bytes()
    with pytest.raises(RunError) as refusal:
        write_report(little)
    assert str(refusal.value) == (
        f"{little / name} was damaged or changed, or goffman was stopped while it wrote the "
        "file. Run the goffman audit command of this run again. It writes the file again and "
        "asks no model."
    )
    assert (little / "report.html").read_bytes() == page


@pytest.mark.parametrize("name", ["report.html", "card.png", "results.csv"])
def test_nothing_is_written_through_a_link_in_the_place_of_a_file(little, tmp_path, name):
    own = tmp_path / "own.txt"
    own.write_text("mine")
    (little / name).unlink()
    (little / name).symlink_to(own)
    with pytest.raises(RunError) as refusal:
        write_report(little)
    assert str(refusal.value) == (
        f"{name} in {little} is a link, not a file. Move it away and run the same command again."
    )
    assert own.read_text() == "mine"


def test_the_page_says_by_which_weights_and_tokenizer(measured):
    for model, entry in zip(
        about_run(measured)["models"], measured.manifest.models.values(), strict=True
    ):
        facts = dict(model["facts"])
        assert facts["weights (sha256)"] == f"{entry.weights_sha256[:12]}…"
        assert facts["tokenizer (sha256)"] == f"{entry.tokenizer_sha256[:12]}…"
