"""goffman prompts and goffman ls, asked for forms."""

import csv
import io
import json

import in_process


def rows(*arguments: str) -> list[dict[str, object]]:
    done = in_process.goffman("prompts", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_every_presentation_is_shown_with_its_columns() -> None:
    found = rows("attribution", "--mode", "choice", "--limit", "10")
    assert {(row["instrument"], row["mode"]) for row in found} == {("attribution", "choice")}
    shown = {"keyed", "gender", "person", "order", "labels", "no_answer", "options"}
    assert shown <= set(found[0])
    assert [row["person"] for row in found[:4]] == ["woman", "woman", "woman-named", "woman-named"]
    assert [row["order"] for row in found[:2]] == ["forward", "reversed"]
    assert json.loads(str(found[0]["options"]))[0] == ["1", "Not at all true of me", 0.0]
    as_csv = in_process.goffman(
        "prompts", "attribution", "--mode", "choice", "--limit", "10", "--format", "csv"
    )
    texts = [row["text"] for row in csv.DictReader(io.StringIO(as_csv.stdout))]
    assert texts == [row["text"] for row in found]


def test_the_name_of_a_form_is_that_form_alone() -> None:
    """Summary and page call forms so."""
    for name, form in (("coreference/pronouns", "pronouns"), ("social-distance/choice", "choice")):
        of = name.removesuffix(f"/{form}")
        assert rows(name, "--limit", "5") == rows(of, "--mode", form, "--limit", "5")
    done = in_process.goffman("prompts", "coreference/pronouns", "--mode", "choice")
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "'coreference/pronouns' already names a mode of coreference. Give coreference with --mode, "
        "or coreference/pronouns alone."
    )
    assert rows("care-seeking/fill", "--limit", "5") == rows("care-seeking", "--limit", "5")
    done = in_process.goffman("prompts", "care-seeking/writ")
    assert done.stderr.startswith("care-seeking has no mode 'writ'. Allowed: fill, completion, ")
    done = in_process.goffman("prompts", "social-distance/pronouns")
    assert done.returncode == 2
    assert done.stderr.startswith("social-distance has no mode 'pronouns'. Allowed: fill, ")


def test_an_audit_asks_that_form_alone() -> None:
    asked = ("audit", "bundled:mini", "--dry-run", "--limit", "2", "--instrument")
    done = in_process.goffman(*asked, "coreference/pronouns")
    assert done.returncode == 0, done.stderr
    assert "coreference/pronouns" in done.stderr + done.stdout
    done = in_process.goffman(*asked, "coreference/choice")
    assert done.returncode == 2
    assert "causal model" in done.stderr


def test_the_table_says_what_varies() -> None:
    done = in_process.goffman("prompts", "social-distance", "--mode", "choice", "--limit", "2")
    header = done.stdout.splitlines()[0].split()
    assert header == ["prompt_id", "item", "wording", "condition", "order", "text"]
    done = in_process.goffman("prompts", "social-distance", "--mode", "completion", "--limit", "2")
    assert "prefill" in done.stdout.splitlines()[0].split()
    assert "____" in done.stdout


def test_the_part_for_a_server_and_the_way_out() -> None:
    found = rows("people-sentiment", "--mode", "reply", "--sample", "balanced", "--no-controls")
    assert len(found) == 308
    without = rows("people-sentiment", "--mode", "reply", "--forced-choice", "--limit", "3")
    assert [row["no_answer"] for row in without] == [False] * 3
    assert "can't tell" not in str(without[0]["text"])


def test_the_first_form_is_the_instrument_itself() -> None:
    assert rows("care-seeking", "--mode", "fill", "--limit", "3") == rows(
        "care-seeking", "--limit", "3"
    )


def test_forms_that_cannot_be_are_refused() -> None:
    refused = {
        ("care-seeking", "--mode", "choices"): (
            "care-seeking has no mode 'choices'. Allowed: fill, completion, write.\n"
        ),
        ("care-seeking", "--forced-choice"): (
            "--forced-choice works only with --mode choice or --mode reply.\n"
        ),
        ("coreference", "--mode", "reply", "--wording", "refer"): (
            "coreference/reply has no wording 'refer'. Allowed: 'refers', 'is-meant', "
            "'stands-for', 'all', 'paraphrases'. Did you mean 'refers'?\n"
        ),
    }
    for arguments, said in refused.items():
        done = in_process.goffman("prompts", *arguments)
        assert (done.returncode, done.stderr) == (2, said)


def test_ls_tells_the_forms() -> None:
    listed = {
        row["instrument"]: row["modes"]
        for row in json.loads(in_process.goffman("ls", "--json").stdout)
    }
    assert listed["social-distance"] == ["fill", "completion", "choice", "reply"]
    assert listed["coreference"] == ["ask", "choice", "reply", "pronouns"]
    assert "Modes: fill, completion, write" in in_process.goffman("ls", "--cite").stdout


def test_the_statements_as_the_authors_ran_them_can_be_chosen_as_in_an_audit() -> None:
    found = rows("attribution", "--set", "attribution.wordings=as-run", "--limit", "30")
    assert {row["wording"] for row in found} == {"as-run"}
    assert {row["source"] for row in found} == {"study"}
