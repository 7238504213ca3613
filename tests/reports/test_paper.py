"""goffman export --to paper: a folder in which every number is that of the run."""

from __future__ import annotations

import csv
import re
import shutil
import statistics
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

import in_process
from goffman.export.paper import (
    IDS,
    KEY,
    bibtex,
    main_table,
    methods_text,
    paper_figures,
    public_name,
    references_of,
    write_paper,
)
from goffman.formatting import number
from goffman.gate.names import named_estimates
from goffman.options import AskOptions
from goffman.pipeline import audit
from goffman.presentation.table_formats import COLUMN, NARROW, latex, widths_of
from goffman.report.load import read_run
from goffman.stats.crossed import crossed_interval

pytestmark = pytest.mark.slow

REFIT = Path(__file__).parents[2] / "src" / "goffman" / "export" / "for_paper" / "refit.R"
ASKED = ("social-distance", "care-seeking", "people-sentiment")


@pytest.fixture(scope="module")
def run(tiny, shortened, tmp_path_factory):
    """A masked model and a classifier, by folders whose paths nobody should read."""
    folder = tmp_path_factory.mktemp("secret-place")
    models = [folder / "fills", folder / "=labels"]
    models[0].symlink_to(tiny("roberta"))
    models[1].symlink_to(tiny("bert", labels=("NEG", "POS")))
    audit(
        [str(model) for model in models],
        instruments=[str(shortened / name) for name in ASKED],
        output=folder / "run",
        # Models of random weights would fail them, and then have no main results.
        options=AskOptions(controls=False),
    )
    return read_run(folder / "run")


@pytest.fixture(scope="module")
def failing(tiny, shortened, tmp_path_factory):
    """The run of a model that fails the control items."""
    folder = tmp_path_factory.mktemp("failing") / "run"
    asked = [str(shortened / "social-distance")]
    audit([str(tiny("roberta"))], instruments=asked, output=folder)
    return read_run(folder)


@pytest.fixture(scope="module")
def paper(run, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("paper") / "folder"
    written = write_paper(run, folder)
    assert sorted(written) == sorted(path for path in folder.rglob("*") if path.is_file())
    return folder


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ASKED)
def test_every_prompt_of_a_model_stands_in_one_row(run, paper, name) -> None:
    rows = read(paper / f"data-{name}.csv")
    keys = [tuple(row.get(column, "") for column in KEY) for row in rows]
    assert len(set(keys)) == len(keys)
    each = run.scores.filter(level="prompt", instrument=name)
    assert len(rows) == each.select("model", "prompt_id", "trial").n_unique()
    numbers = [
        c for c in rows[0] if c in {re.sub("[^A-Za-z0-9]+", "_", q) for q in quantities(each)}
    ]
    values = [float(row[column]) for row in rows for column in numbers if row[column]]
    assert len(values) == each["value"].drop_nulls().len()
    assert sum(values) == pytest.approx(each["value"].sum())


def quantities(each: pl.DataFrame) -> set[str]:
    return {
        quantity if variant is None else f"{quantity}_{variant}"
        for quantity, variant in each.select("quantity", "variant").unique().rows()
    }


def test_the_main_difference_comes_out_of_the_rows(run, paper) -> None:
    """Means over forms and near-copies, then over all cells of conditions that have every one; in plain Python."""
    (gap,) = (
        one
        for one in named_estimates(run.estimates, run.manifest)
        if one.path == "social-distance.gap" and one.row["family"] == "primary"
    )
    cells: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for row in read(paper / "data-social-distance.csv"):
        if row["negative"]:
            of = cells.setdefault((row["group"], row["condition"]), {})
            # Wordings of one family count once.
            family = row["family"] or row["wording"]
            of.setdefault((row["item"], family), []).append(float(row["negative"]))
    whole = max(len(of) for of in cells.values())
    means: dict[str, list[float]] = {}
    for (group, _), of in cells.items():
        if len(of) == whole:
            mean = statistics.fmean(statistics.fmean(values) for values in of.values())
            means.setdefault(group, []).append(mean)
    found = statistics.fmean(means["stigmatized"]) - statistics.fmean(means["non-stigmatized"])
    assert found == pytest.approx(gap.row["difference"])


def test_every_column_is_in_the_codebook_and_nothing_else(run, paper) -> None:
    told = {(row["file"], row["column"]): row for row in read(paper / "codebook.csv")}
    there = {
        (path.name, column)
        for path in paper.glob("*.csv")
        if path.name != "codebook.csv"
        for column in read(path)[0]
    }
    assert set(told) == there
    for row in told.values():
        assert len(row["meaning"]) > 10
        own = row["file"] == "estimates.csv" or "of the measure" not in row["meaning"]
        assert own, f"a number without a meaning: {row}"
    assert {*IDS} - {"dimension"} <= {c for f, c in there if f == "data-social-distance.csv"}


def test_every_estimate_stands_once_and_no_path_anywhere(run, paper) -> None:
    rows = read(paper / "estimates.csv")
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names) == run.every_estimate.height
    assert "social-distance.gap[fills]" in names
    texts = [
        *paper.glob("*.*"),
        *(paper / "tables").iterdir(),
        *(paper / "figures").glob("*.[ms]*"),
    ]
    assert len(texts) > 15
    for path in texts:
        assert "secret-place" not in path.read_text(encoding="utf-8"), path
    # Of a formula only its text is left.
    assert {row["model"] for row in read(paper / "data-people-sentiment.csv")} == {"'=labels"}


def test_the_methods_have_what_a_reviewer_asks_for(run, paper) -> None:
    text = (paper / "methods.txt").read_text(encoding="utf-8")
    for name, model in run.manifest.models.items():
        wanted = (public_name(name), model.weights_sha256, model.tokenizer_sha256, model.precision)
        assert all(one in text for one in wanted)
    for name in run.sections:
        entry = run.manifest.instruments[name]
        assert f"{name}, version {entry.version} (" in text
        assert entry.prompts_sha256 in text
        assert entry.called.citation in text
    for wanted in (
        "k = 50 most probable words",
        "k = 100 most probable words",
        "People (the raters of Mei et al. 2023) rated the words with at least",
        "social-distance: no control items were asked",
        "crossed t",
        "Cohen's d",
        "(family: primary) is not corrected",
        "Benjamini and Hochberg's method",
        "Differences from 0.050 on count as relevant",
        "goffman 0.1.0",
        "seed 0",
    ):
        assert wanted in text, wanted
    assert "fresh chat" not in text
    assert "main results were corrected" not in text


def test_of_a_model_that_fails_the_controls_that_is_said(failing, tmp_path) -> None:
    text = methods_text(failing)
    assert "at least 0.90 is needed" in text
    assert not [one for one in paper_figures(failing) if one.name.startswith("social-distance-w")]
    for row in main_table(failing.sections["social-distance"]).rows:
        assert "(not measurable)" in row["label"]


def test_what_is_to_be_cited(run, paper) -> None:
    text = (paper / "references.bib").read_text(encoding="utf-8")
    keys = re.findall(r"^@\w+\{(\S+),$", text, flags=re.MULTILINE)
    assert keys[0] == "goffman"
    assert {"mei2023", "crandall1995", "pachankis2018", "lin2022", "schwarzer2011"} <= {*keys}
    assert not {"corrigan2003", "zhao2018"} & {*keys}
    for entry in text.strip().split("\n\n"):
        assert entry.count("{") == entry.count("}")
        assert "  title = {{" in entry
        assert "  year = {" in entry
    hostile = {"mine": {"type": "misc", "title": r"50% {off} \write18", "note": "a & b_c"}}
    assert bibtex(hostile) == (
        "@misc{mine,\n  title = {{50\\% \\{off\\} \\textbackslash{}write18}},\n"
        "  note = {a \\& b\\_c},\n}\n"
    )


def test_an_instrument_of_one_s_own_is_cited_as_it_says(run) -> None:
    section = run.sections["social-distance"]
    entry = run.manifest.instruments["social-distance"]
    manifest = type(run.manifest)(
        instruments={"mine": entry}, models=run.manifest.models, sessions=run.manifest.sessions
    )
    of_own = type(run)(
        folder=run.folder,
        manifest=manifest,
        prompts=run.prompts,
        scores=run.scores,
        estimates=run.estimates,
    )
    of_own.__dict__["sections"] = {"mine": section}
    found = references_of(of_own)
    assert list(found) == ["goffman", "mine"]
    assert found["mine"]["note"] == entry.called.citation


def test_tables_fit_a_column_and_have_every_number(run, paper) -> None:
    for name, section in run.sections.items():
        table = main_table(section)
        # What is a little too wide for its type is made smaller, but stays to be read.
        (width,) = widths_of(table, [NARROW])
        assert 0 < width <= 1.2 * COLUMN
        text = (paper / "tables" / f"{name}.tex").read_text(encoding="utf-8")
        assert text.count(r"\multicolumn{6}") == len(table.rows)
        assert "Difference & Interval & t & df & p & Effect" in text
        assert text.count("{") == text.count("}")
        assert (r"\resizebox{\columnwidth}" in text) is (width > COLUMN)
    primary = run.estimates.filter(family="primary", instrument="care-seeking").to_dicts()[0]
    lines = (paper / "tables" / "care-seeking.tex").read_text(encoding="utf-8").splitlines()
    label = f"fills, with-names: mental-health − other; {primary['verdict']}"
    (place,) = (at for at, line in enumerate(lines) if f"{{{latex(label)}}}" in line)
    difference, _, t, df, *_ = lines[place + 1].replace("$", "").split(" & ")
    for shown, name in ((difference, "difference"), (t, "statistic"), (df, "df")):
        # Half of the last digit that is shown is what rounding may change.
        half = 0.5 * 10 ** -len(shown.partition(".")[2])
        assert 0.0005 <= half <= 0.05
        assert float(shown) == pytest.approx(primary[name], rel=0, abs=1.001 * half)


def test_figures_say_what_they_show_of_whom(run, paper) -> None:
    alt = (paper / "figures" / "README.md").read_text(encoding="utf-8")
    pictures = sorted((paper / "figures").glob("*.png"))
    assert len(pictures) >= 10
    for picture in pictures:
        content = picture.read_bytes()
        place = content.index(b"pHYs") + 4
        assert round(int.from_bytes(content[place : place + 4], "big") * 0.0254) == 300
        svg = picture.with_suffix(".svg").read_text(encoding="utf-8")
        width = float(re.search(r'<svg[^>]*? width="([\d.]+)"', svg)[1])
        assert int.from_bytes(content[16:20], "big") == pytest.approx(width * 300 / 96, abs=2)
        assert re.search(r"n = \d+ \w+", svg), picture
        assert f"**{picture.stem}**: " in alt


def test_an_alt_text_states_the_finding(run) -> None:
    """The difference, its interval and its p; and who was asked how much."""
    (gap,) = run.estimates.filter(family="primary", instrument="social-distance").to_dicts()
    (figure,) = (one for one in paper_figures(run) if one.name == "social-distance-wordings")
    assert f"difference {number(gap['difference'])}, 95% interval" in figure.alt
    assert figure.alt.endswith("n = 12 conditions, 672 prompts.")
    assert figure.spec["description"] == figure.alt
    assert figure.spec["title"]["subtitle"] == [
        "social-distance. fills. n = 12 conditions, 672 prompts"
    ]


def test_latex_sets_the_tables_within_a_column(paper, tmp_path) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed (Debian: texlive-latex-recommended)")
    tables = [path.read_text(encoding="utf-8") for path in sorted((paper / "tables").glob("*.tex"))]
    head = (
        "\\documentclass[twocolumn,10pt]{article}\\usepackage[textwidth=458pt]{geometry}"
        "\\setlength{\\columnsep}{20pt}\\usepackage{booktabs}\\usepackage{graphicx}\n"
        "\\begin{document}\\typeout{A column has \\the\\columnwidth.}\n"
    )
    text = head + "\\clearpage ".join(tables) + "\\end{document}\n"
    (tmp_path / "all.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-no-shell-escape", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=120,
        check=False,
    )
    assert f"A column has {COLUMN}pt." in done.stdout
    assert [line for line in done.stdout.splitlines() if line.startswith("!")] == []
    wide = re.findall(r"Overfull \\hbox \(([\d.]+)pt", done.stdout)
    assert [float(points) for points in wide if float(points) > 1] == []


@pytest.fixture(scope="module")
def rscript() -> str:
    found = shutil.which("Rscript")
    if found is None:
        pytest.skip("R is not installed (Debian: r-base-core)")
    return found


def refit(rscript: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [rscript, "--vanilla", "refit.R"], cwd=folder, capture_output=True, text=True, check=False
    )


def agrees_in_r(rscript: str, folder: Path, rows: list[dict[str, object]], found) -> None:
    """R comes to the same of these scores of vignettes as ``found``."""
    pl.DataFrame(rows).write_csv(folder / "data-vignettes-reply.csv")
    t = found.difference / found.se
    about = {"name": "x", "instrument": "vignettes", "mode": "reply", "model": "m"}
    about |= {"kind": "groups", "measure": "vignette-code", "quantity": "code", "variant": None}
    about |= {"first": "disorder", "second": "daily", "group": None, "dimension": None}
    about |= {"family": "primary", "test": "crossed t", "difference": found.difference}
    about |= {"statistic": t, "df": found.df, "p": 2 * stats.t.sf(abs(t), found.df)}
    pl.DataFrame([about]).write_csv(folder / "estimates.csv")
    shutil.copy(REFIT, folder)
    done = refit(rscript, folder)
    assert done.stdout.count("\n  the same\n") == 1, done.stdout + done.stderr


@pytest.mark.parametrize("others", [1, 3])
@pytest.mark.parametrize("gap", [False, True])
def test_r_comes_to_the_same_of_descriptions(tmp_path, rscript, others, gap) -> None:
    """Four disorders against one description that is given, or against three that are sampled."""
    rng = np.random.default_rng(others)
    sides = {"disorder": rng.normal(0.6, 0.1, (5, 4)), "daily": rng.normal(0.4, 0.1, (5, others))}
    rows = [
        {"model": "m", "group": group, "condition": f"{group}{c}", "item": f"i{i}", "wording": w}
        | {"code": value + (0.05 if w == "a" else -0.05)}
        for group, table in sides.items()
        for (i, c), value in np.ndenumerate(table)
        for w in "ab"
        if not (gap and (group, i, c) == ("disorder", 2, 0))
    ]
    kept = [i for i in range(5) if not (gap and i == 2)]
    first, second = (table[kept].T[:, :, None] for table in sides.values())
    tables = [first - second] if others == 1 else [first, second]
    found = crossed_interval(tables, ["abcd", "efg"][: len(tables)])
    agrees_in_r(rscript, tmp_path, rows, found)


def test_r_comes_to_the_same_of_descriptions_of_given_disorders(tmp_path, rscript) -> None:
    """Three descriptions of each of two disorders, and four of daily troubles."""
    rng = np.random.default_rng(5)
    tables = [rng.normal(mean, 0.1, (n, 5)) for mean, n in ((0.6, 3), (0.7, 3), (0.4, 4))]
    groups = ("disorder", "disorder", "daily")
    rows = [
        {"model": "m", "group": group, "category": f"k{k}", "condition": f"k{k}-{c}"}
        | {"item": f"i{i}", "wording": "a", "code": value}
        for k, (group, table) in enumerate(zip(groups, tables, strict=True))
        for (c, i), value in np.ndenumerate(table)
    ]
    units = [[f"{k}-{c}" for c in range(len(table))] for k, table in enumerate(tables)]
    found = crossed_interval([table[:, :, None] for table in tables], units, (0.5, 0.5, -1))
    agrees_in_r(rscript, tmp_path, rows, found)


def test_r_comes_to_the_same_of_a_scale_with_one_wording(
    tiny, shortened, tmp_path, rscript
) -> None:
    """Items and conditions are crossed there, as descriptions and items are, by another formula."""
    own = tmp_path / "own"
    shutil.copytree(shortened / "social-distance", own)
    (own / "paraphrases.toml").unlink()
    toml = own / "instrument.toml"
    before, first, *_, last = toml.read_text().split("[[wordings]]")
    # The last wording goes up to the next table.
    toml.write_text(f"{before}[[wordings]]{first}" + last[last.index("\n[") :])
    run = tmp_path / "run"
    options = AskOptions(controls=False)
    audit([str(tiny("roberta"))], instruments=[str(own)], output=run, options=options)
    folder = tmp_path / "paper"
    write_paper(read_run(run), folder)
    done = refit(rscript, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n  the same\n") == 1


def test_r_comes_to_the_same_numbers(run, paper, rscript) -> None:
    done = refit(rscript, paper)
    assert done.returncode == 0, done.stdout + done.stderr
    primary = run.estimates.filter(pl.col("p").is_not_null(), family="primary")
    assert done.stdout.count("\n  the same\n") == primary.height == 3
    for row in primary.iter_rows(named=True):
        shown = (row["difference"], row["statistic"], row["df"], row["p"])
        numbers = [
            [float(one) for one in re.findall(r" (-?[\d.]+(?:e[+-]\d+)?)(?:,|$)", line)]
            for line in done.stdout.splitlines()
            if line.startswith("  R:")
        ]
        assert any(found == pytest.approx(shown, rel=1e-6) for found in numbers), row["contrast"]


def test_r_finds_a_number_that_is_not_goffman_s(paper, rscript, tmp_path) -> None:
    folder = shutil.copytree(paper, tmp_path / "changed")
    table = folder / "data-social-distance.csv"
    rows = read(table)
    column = list(rows[0]).index("negative")
    lines = [list(row.values()) for row in rows]
    changed = next(line for line in lines if "stigmatized" in line and line[column])
    changed[column] = str(float(changed[column]) + 0.01)
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(rows[0]), *lines])
    done = refit(rscript, folder)
    assert done.returncode == 1
    assert "NOT THE SAME" in done.stdout
    assert "a contrast is not the same as goffman's" in done.stderr


def test_the_command_says_what_it_needs_and_spares_what_is_others(run, paper, tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    for words, said in (
        (("--to", "paper"), "--to paper writes a folder. Give one: --output FOLDER\n"),
        (
            ("--to", "paper", "--model", "fills", "--output", tmp_path / "new"),
            "--to paper is about every model of the run. Leave out --model.\n",
        ),
        (
            ("--to", "paper", "--output", tmp_path),
            f"{tmp_path} contains other files (thesis.tex). Give an empty or new folder with "
            "--output.\n",
        ),
    ):
        done = in_process.goffman("export", run.folder, *words)
        assert (done.returncode, done.stderr) == (2, said)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    done = in_process.goes_well("export", run.folder, "--to", "paper", "--output", paper)
    assert done.stderr.startswith(f"{len(list(files(paper)))} files are in {paper}.")


def files(folder: Path):
    return (path for path in folder.rglob("*") if path.is_file())


def test_numbers_are_told_with_their_variant(paper) -> None:
    told = {row["column"]: row["meaning"] for row in read(paper / "codebook.csv")}
    assert told["negative"].startswith("P(negative)") or "label" in told["negative"]
    assert told["female_with_names"].endswith("(with names)")
