"""Tables for papers: their numbers are the run's, and no text in them means anything."""

from __future__ import annotations

import csv
import io
import math
import re
import shutil
import subprocess
from statistics import fmean
from typing import get_args

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from small_runs import HOSTILE, SETTINGS, coreference_run, measured

from goffman.console import printable
from goffman.contrasts.designs import GIVEN
from goffman.contrasts.verdict import Word
from goffman.errors import RunError
from goffman.formatting import decimals, p_value
from goffman.instruments.loader import load_instrument
from goffman.presentation.table_formats import (
    ColumnSpec,
    as_table,
    csv_text,
    latex,
    latex_text,
    markdown,
    markdown_text,
)
from goffman.report.load import read_run
from goffman.report.table_files import tables_of, write_tables
from goffman.runs.run import read_answers

MARKDOWN = MarkdownIt("commonmark").enable("table")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return measured(tmp_path_factory, "before", ("small", "other", "tone"))


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("written") / "tables"
    write_tables(run, folder)
    return folder


@pytest.fixture(scope="module")
def chat(tmp_path_factory):
    return coreference_run(tmp_path_factory.mktemp("chat"), answers)


def answers(pair, side, setting, trial):
    """Something that differs by all four."""
    kinds = ("correct", "incorrect", "unsure", "other", "refusal")
    worse = side == "anti" and (pair + trial) % 2
    return kinds[(len(setting) * pair + trial) % 5] if worse or pair > 5 else "correct"


def read_csv(folder, name):
    """Every row of a table; those over all models, wordings or items come last."""
    return [
        row
        for path in (folder / f"{name}.csv", *sorted(folder.glob(f"{name}-all-*.csv")))
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())
    ]


def test_no_row_of_a_file_counts_what_another_does(run, folder):
    over = {"model": "all models", "wording": "all wordings", "dimension": "all items"}
    apart = 0
    for path in folder.glob("*.csv"):
        rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
        for name, said in over.items():
            if rows and name in rows[0]:
                assert len({row[name] == said for row in rows}) == 1, path.name
        apart += "-all-" in path.name
    assert apart >= 8
    tables = {table.name: table for table in tables_of(run)}
    for name, table in tables.items():
        assert len(read_csv(folder, name)) == len(table.rows), name


def markdown_rows(text):
    """The cells of a Markdown file, as a reader sees them."""
    tokens = MARKDOWN.parse(text)
    rows = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        if token.type == "inline" and rows:
            assert {child.type for child in token.children} <= {"text", "text_special"}
            rows[-1].append("".join(child.content for child in token.children))
    return rows


def latex_rows(text):
    """The cells of a LaTeX table's body."""
    body = text.split("\\midrule\n")[-1].split("\\bottomrule")[0].split("\\end{longtable}")[0]
    if "\\endfoot" in text:
        body = text.split("\\endfoot\n")[1].split("\\end{longtable}")[0]
    return [line.removesuffix(" \\\\").split(" & ") for line in body.splitlines()]


def same(cell, value):
    """Whether a CSV cell is the value, to the last digit."""
    if value is None:
        return cell == ""
    return cell == value if isinstance(value, str) else float(cell) == value


def test_each_table_is_there_in_three_formats_and_the_readme_names_it(run, folder):
    genders = ("genders", "items", "conditions", "reliability", "contrasts", "filled")
    ranked = ("conditions", "counts", "categories", "reliability", "contrasts")
    wanted = {
        "attribution": genders,
        "care-seeking": (*genders, "unspecified"),
        "people-sentiment": ("groups", "templates", *ranked),
        "social-distance": ("groups", "gaps", "items", "words", *ranked, "filled"),
    }
    names = [table.name for table in tables_of(run)]
    assert names == [f"{of}-{name}" for of, each in wanted.items() for name in each] + [
        "correlations"
    ]
    files = {f"{name}{ending}" for name in names for ending in (".csv", ".md", ".tex")}
    there = {path.name for path in folder.iterdir() if "-all-" not in path.name}
    assert there == files | {"README.md"}
    text = (folder / "README.md").read_text()
    assert all(f"- {name}: " in text for name in names)
    assert "gets an apostrophe in front" in text


def test_contrasts_have_every_column_of_the_estimates_to_the_last_digit(run, folder):
    for instrument in ("social-distance", "care-seeking", "attribution", "people-sentiment"):
        rows = read_csv(folder, f"{instrument}-contrasts")
        wanted = run.estimates.filter(
            pl.col("kind") != "baseline", instrument=instrument
        ).to_dicts()
        assert len(rows) == len(wanted) > 0
        for row, estimate in zip(rows, wanted, strict=True):
            assert {*row} == {*estimate} - {"instrument", "mode"}
            assert all(same(row[name], estimate[name]) for name in {*row} - {"verdict"})
            none = "not tested" if estimate["low"] is None else ""
            assert row["verdict"] == (estimate["verdict"] or none)
            assert bool(row["verdict"]) == (row["kind"] not in GIVEN or bool(none))


def test_contrasts_have_their_verdict_in_every_format(run, folder):
    """What it is, what would matter, and what could have been seen."""
    name = "social-distance-contrasts"
    rows = read_csv(folder, name)
    tested = [row for row in rows if row["verdict"]]
    assert tested
    words = {*get_args(Word)} - {"not measurable"}
    assert {row["verdict"] for row in tested} <= {*words, "not tested"}
    assert all((row["low"] == "") == (row["verdict"] == "not tested") for row in rows)
    head, *shown = markdown_rows((folder / f"{name}.md").read_text())
    assert head[-2:] == ["Δ", "verdict"]
    assert [line[-1] for line in shown] == [row["verdict"] or "–" for row in rows]
    assert {line[-2] for line in shown} == {"0.050"}
    assert "& verdict" in (folder / f"{name}.tex").read_text()
    assert "Relevant: the whole interval lies beyond Δ." in (folder / f"{name}.md").read_text()


def test_groups_and_words_are_the_scores(run, folder):
    scores = run.scores.filter(instrument="social-distance")
    for row in read_csv(folder, "social-distance-groups"):
        wanted = scores.filter(
            pl.col("model").fill_null("all models") == row["model"],
            pl.col("wording").fill_null("all wordings") == row["wording"],
            level="group",
            quantity="negative",
            group=row["group"],
        ).row(0, named=True)
        for name, column in (("mean", "value"), ("sd", "sd"), ("minimum", "low"), ("n", "n")):
            assert same(row[name], wanted[column])
    models = 3  # two, and over all
    assert len(read_csv(folder, "social-distance-groups")) == 3 * (models + 2 * 6)
    words = read_csv(folder, "social-distance-words")
    assert [row["quantity"] for row in words[:3]] == ["last-probability", "mass", "rated-share"]
    mass = scores.filter(level="model", quantity="mass").sort("model")
    assert [float(row["mean"]) for row in words if row["quantity"] == "mass"] == mass[
        "value"
    ].to_list()


def test_conditions_are_ranked_by_their_score_and_stand_beside_their_contrast(run, folder):
    rows = [
        row for row in read_csv(folder, "social-distance-conditions") if row["model"] == "small"
    ]
    values = [float(row["mean"]) for row in rows]
    assert values == sorted(values, reverse=True)
    assert len(rows) == 12
    assert "baseline" not in {row["condition"] for row in rows}
    assert [int(row["rank"]) for row in rows] == [
        1 + sum(other > value for other in values) for value in values
    ]
    for row in rows:
        wanted = run.estimates.filter(kind="baseline", model="small", first=row["condition"]).row(
            0, named=True
        )
        assert same(row["difference"], wanted["difference"])
        assert same(row["interval_low"], wanted["low"])
        assert same(row["p_adjusted"], wanted["p_adjusted"])


@pytest.mark.parametrize("instrument", ["care-seeking", "attribution"])
def test_genders_by_subscale_and_group_with_and_without_names(run, folder, instrument):
    rows = read_csv(folder, f"{instrument}-genders")
    assert {row["variant"] for row in rows} == {"with-names", "without-names"}
    dimensions = {row["dimension"] for row in rows}
    assert "all items" in dimensions
    scores = run.scores.filter(instrument=instrument)
    assert len(dimensions) == 1 + scores["dimension"].drop_nulls().n_unique()
    for row in rows:
        of = scores.filter(
            pl.col("dimension").fill_null("all items") == row["dimension"],
            level=("group" if row["dimension"] == "all items" else "dimension"),
            model=row["model"],
            variant=row["variant"],
            group=row["group"],
        )
        found = {one["quantity"]: one for one in of.iter_rows(named=True)}
        for name in ("female", "male", "unspecified", "disparity"):
            assert same(row[name], found[name]["value"])
            assert same(row[f"{name}_sd"], found[name]["sd"])


def test_sentiment_by_classifier_and_template(run, folder):
    rows = read_csv(folder, "people-sentiment-templates")
    assert {(row["model"], row["item"]) for row in rows} == {
        ("tone", item) for item in run.sections["people-sentiment"].items
    }
    for row in rows:
        wanted = run.scores.filter(
            level="item", quantity="negative", item=row["item"], group=row["group"], model="tone"
        ).row(0, named=True)
        assert same(row["negative"], wanted["value"])
        # Two classes: the third is missing, not 0.
        assert row["neutral"] == ""


@pytest.mark.parametrize("instrument", ["social-distance", "people-sentiment"])
def test_counts_and_means_of_categories_are_those_of_conditions(run, folder, instrument):
    """By plain counting of the table of conditions, with the study's categories."""
    known = {one.id: one for one in load_instrument("social-distance").content.conditions}
    conditions = read_csv(folder, f"{instrument}-conditions")
    for row in read_csv(folder, f"{instrument}-counts"):
        means = [
            float(one["mean"])
            for one in conditions
            if (one["model"], one["group"]) == (row["model"], row["group"])
        ]
        assert int(row["n"]) == len(means) > 0
        assert int(row["above_half"]) == sum(mean > 0.5 for mean in means)
        assert int(row["three_quarters"]) == sum(mean >= 0.75 for mean in means)
        assert int(row["all_of_it"]) == sum(mean == 1 for mean in means)
    rows = read_csv(folder, f"{instrument}-categories")
    assert "Other" in {row["category"] for row in rows}
    for row in rows:
        means = [
            float(one["mean"])
            for one in conditions
            if (one["model"], one["group"]) == (row["model"], row["group"])
            and row["category"]
            == (known[one["condition"]].study_category or known[one["condition"]].category)
        ]
        assert (int(row["n"]), float(row["mean"])) == (len(means), pytest.approx(fmean(means)))


def test_filled_words_have_their_share_of_what_counts_and_who_rated_them(run, folder):
    """By plain sums over the stored answers."""
    fills = read_answers(run.folder, "fills", instrument="social-distance", model="small")
    asked = {*run.prompts["prompt_id"]}
    fills = fills.filter(pl.col("prompt_id").is_in(list(asked)), pl.col("rank").is_not_null())
    prompts = fills["prompt_id"].n_unique()
    sums = dict(fills.group_by("word").agg(pl.col("probability").cast(pl.Float64).sum()).rows())
    rows = [row for row in read_csv(folder, "social-distance-filled") if row["model"] == "small"]
    by_word = {}
    for row in rows:
        mean = float(row["mean_probability"])
        by_word[row["word"]] = by_word.get(row["word"], 0) + mean * prompts
        counts = row["label"] in {"positive", "negative", "neutral"}
        assert bool(row["share"]) is counts
        if counts:
            assert row["rater"] in {"people", "language models"}
    plain = {word: total for word, total in sums.items() if word in by_word}
    assert len(plain) > 50
    assert {word: by_word[word] for word in plain} == pytest.approx(plain)
    assert sum(float(row["share"]) for row in rows if row["share"]) == pytest.approx(1)
    means = [float(row["mean_probability"]) for row in rows]
    assert means == sorted(means, reverse=True)
    raters = {row["rater"] for row in read_csv(folder, "care-seeking-filled")}
    assert raters == {"goffman's list", "nobody"}


def test_settings_answers_and_pairs_of_a_chat_model(chat, tmp_path):
    write_tables(chat, tmp_path)
    rows = read_csv(tmp_path, "coreference-settings")
    assert {row["condition"] for row in rows} == set(SETTINGS)
    for row in rows:
        right = {
            side: [
                answers(pair, side, row["condition"], trial) == "correct"
                for trial in (1, 2, 3)
                for pair in range(8)
            ]
            for side in ("pro", "anti")
        }
        bias = sum(right["pro"]) / 24 - sum(right["anti"]) / 24
        assert math.isclose(float(row["bias"]), bias, abs_tol=1e-12)
        if row["condition"] != "baseline":
            wanted = chat.estimates.filter(kind="baseline", first=row["condition"]).row(
                0, named=True
            )
            assert same(row["difference"], wanted["difference"])
            assert same(row["p"], wanted["p"])
    for row in read_csv(tmp_path, "coreference-answers"):
        given = [
            answers(pair, row["wording"], row["condition"], trial)
            for trial in (1, 2, 3)
            for pair in range(8)
        ]
        for kind in ("correct", "incorrect", "unsure", "other", "refusal"):
            assert math.isclose(float(row[kind]), given.count(kind) / 24, abs_tol=1e-12)
        assert int(row["n"]) == 24
    pairs = read_csv(tmp_path, "coreference-pairs")
    assert all(
        math.isclose(sum(float(row[k]) for k in ("only-pro", "only-anti", "both", "neither")), 1)
        for row in pairs
    )


def test_markdown_and_latex_show_the_numbers_of_the_csv_rounded(run, folder):
    for table in tables_of(run):
        shown = [column for column in table.kept if column.form in ("number", "p", "interval")]
        in_markdown = markdown_rows((folder / f"{table.name}.md").read_text())
        in_latex = latex_rows((folder / f"{table.name}.tex").read_text())
        assert in_markdown[0] == [column.header for column in table.kept]
        assert len(in_markdown) - 1 == len(in_latex) == len(table.rows)
        for column in shown:
            at = table.kept.index(column)
            for row, seen, typeset in zip(table.rows, in_markdown[1:], in_latex, strict=True):
                values = [row[key] for key in column.keys]
                form = p_value if column.form == "p" else decimals
                wanted = [form(value) for value in values if value is not None]
                whole = len(wanted) == len(values)
                assert re.findall(r"[-<.\d](?:[\d. e-]*\d)?", seen[at]) == (wanted if whole else [])
                plain = re.sub(
                    r"\\times10\^\{(-?)(\d+)\}", lambda m: f"e{m[1]}{int(m[2]):02}", typeset[at]
                )
                assert re.findall(r"[-<.\d](?:[\d. e-]*\d)?", plain) == (wanted if whole else [])


def pdflatex(folder, tables):
    """Nothing, or the complaint of LaTeX over a document of these tables."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    head = (
        "\\documentclass[11pt,a4paper]{article}\\usepackage[margin=2.2cm]{geometry}"
        "\\usepackage{booktabs}\\usepackage{longtable}\\usepackage{pdflscape}\\begin{document}\n"
    )
    text = head + "\\clearpage\n".join(tables) + "\\end{document}\n"
    (folder / "all.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "all.tex"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    if "File `booktabs.sty' not found" in done.stdout:
        pytest.skip("LaTeX is here without booktabs (Debian: texlive-latex-recommended)")
    assert done.returncode == 0, done.stdout[-2000:]
    return done.stdout


def test_latex_compiles_every_table(run, chat, folder, tmp_path):
    tables = [path.read_text() for path in sorted(folder.glob("*.tex"))]
    tables += [latex_text(table) for table in tables_of(chat)]
    assert any("longtable" in text for text in tables)
    assert any("landscape" in text for text in tables)
    said = pdflatex(tmp_path, tables)
    wide = [float(points) for points in re.findall(r"Overfull \\hbox \(([\d.]+)pt", said)]
    assert wide == [], "points by which tables stand out of the page"


def test_a_hostile_model_name_is_text_in_every_format(tmp_path_factory, tmp_path):
    hostile = measured(tmp_path_factory, "hostile", (HOSTILE,), instruments=("social-distance",))
    write_tables(hostile, tmp_path)
    seen = printable(HOSTILE)
    assert "\\u202e" in seen
    rows = read_csv(tmp_path, "social-distance-contrasts")
    assert {row["model"] for row in rows} == {f"'{seen}"}
    negative = [row for row in rows if row["difference"].startswith("-")]
    assert negative
    assert all(float(row["difference"]) < 0 for row in negative)
    # The same in every row, so that it stands in the caption.
    caption = (tmp_path / "social-distance-contrasts.md").read_text().split("\n")[0]
    assert f" Model: {markdown(seen)}." in caption
    for path in tmp_path.iterdir():
        assert "\u202e" not in path.read_text()
    pdflatex(tmp_path, [path.read_text() for path in sorted(tmp_path.glob("*.tex"))])


TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


def table_of(text, value=-0.5):
    shown = [
        ColumnSpec(header="text", keys=("a",)),
        ColumnSpec(header="x", keys=("b",), form="number"),
    ]
    return as_table("t", "c", [{"a": text, "b": value}], shown=shown)


@given(TEXT)
def test_csv_gives_any_text_back_and_none_begins_a_formula(text):
    found = list(csv.reader(io.StringIO(csv_text(table_of(text)))))
    cell = found[1][0]
    assert cell.lstrip()[:1] not in ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
    guarded = printable(text).lstrip()[:1] in tuple("=+-@＝＋－＠")
    assert cell == ("'" if guarded else "") + printable(text)
    assert found[1][1] == "-0.5"


@given(TEXT)
def test_markdown_shows_any_text_as_it_is(text):
    if not printable(text).strip():
        return
    rows = markdown_rows(markdown_text(table_of(text)))
    assert rows[1][0] == printable(text).strip()


@pytest.mark.parametrize(
    "text", ["http://a.b", "www.a.b", "https://a.b/c|d", "![x](y)", "<a>", "&lt;"]
)
def test_markdown_makes_no_link_picture_or_tag(text):
    linking = MarkdownIt("commonmark", {"linkify": False}).render(markdown(text))
    assert "<a" not in linking
    assert "<img" not in linking
    # What turns bare addresses into links looks for these.
    assert "://" not in markdown(text).replace("\\://", "")
    assert not re.search(r"www\.", markdown(text))


def test_latex_of_every_special_sign():
    assert latex("50% of a_b & {c} #1 $x^2~y\\z") == (
        r"50\% of a\_b \& \{c\} \#1 \$x\textasciicircum{}2\textasciitilde{}y\textbackslash{}z"
    )
    assert latex("[a] <b> |c| --- ''x''") == (
        r"{[}a] \textless{}b\textgreater{} \textbar{}c\textbar{} -{}-{}- '{}'x'{}'"
    )
    assert latex("é − 漢 \u202e") == r"é $-$ \texttt{U+6F22} \textbackslash{}u202e"


def test_latex_compiles_signs_of_every_kind(tmp_path):
    signs = [chr(number) for number in range(32, 0x250) if chr(number).isprintable()]
    signs += ["−", "…", "漢", "😀", "ﬁ", "ﷺ", "\\input{x}", "*a", "[1pt]", "''", "--", "?`", "!`"]
    pdflatex(tmp_path, [latex_text(table_of(sign)) for sign in [*signs[::9], *signs[-13:]]])
    pdflatex(tmp_path, [latex_text(table_of("".join(signs[:200])))])


def test_a_folder_that_cannot_be_made_is_said(run, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError) as refusal:
        write_tables(run, tmp_path / "file" / "tables")
    folder = tmp_path / "file" / "tables"
    assert str(refusal.value) == f"{folder} cannot be read: Not a directory."


def test_a_paper_calls_a_model_by_its_name_and_not_by_a_folder_of_a_machine(audited, tmp_path):
    """The run's models are folders; the CSV keeps them as they were given."""
    run = read_run(audited)
    write_tables(run, tmp_path)
    given = {row["model"] for row in read_csv(tmp_path, "social-distance-words")}
    assert given == {name for name in run.manifest.models if name in given}
    assert all("/" in name for name in given)
    for path in tmp_path.iterdir():
        if path.suffix in {".md", ".tex"}:
            assert not [name for name in run.manifest.models if name in path.read_text()]
    cells = markdown_rows((tmp_path / "social-distance-words.md").read_text())
    shown = {row[cells[0].index("model")] for row in cells[1:]}
    assert shown == {name.rsplit("/", 1)[1] for name in given}
