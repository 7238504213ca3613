"""What an instrument's files say of it, and how long reading the worst of them takes."""

import time
from pathlib import Path

import pytest

from breaking import broken, sound
from goffman.errors import FaultsError, InputError, InstrumentError
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import Noun


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An instrument without a fault."""
    return sound("tea", tmp_path)


def toml(folder: Path, old: str, new: str) -> None:
    broken(folder, ("instrument.toml", old, new))


def append(folder: Path, name: str, rows: str) -> None:
    broken(folder, (name, lambda text: text + rows))


def faults(folder: Path) -> list[str]:
    with pytest.raises(InstrumentError) as caught:
        load_instrument(folder)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def test_what_an_instrument_does_not_say_of_itself_is_english_and_a_condition(folder: Path) -> None:
    instrument = load_instrument(folder)
    assert (instrument.language, instrument.limits) == ("en", ())
    assert instrument.noun == Noun(one="condition", many="conditions")


@pytest.mark.parametrize("tag", ["de", "en-GB", "pt-BR", "es-419", "zh-Hant-TW", "haw"])
def test_what_an_instrument_says_of_itself(folder: Path, tag: str) -> None:
    toml(
        folder,
        'licence = "CC0-1.0"',
        f'licence = "CC0-1.0"\nlanguage = "{tag}"\nlimits = ["Few items.", "One place."]',
    )
    toml(folder, "[settings]", '[nouns]\ncondition = ["illness", "illnesses"]\n[settings]')
    instrument = load_instrument(folder)
    assert (instrument.language, instrument.limits) == (tag, ("Few items.", "One place."))
    assert instrument.noun == Noun(one="illness", many="illnesses")


def test_what_stands_in_texts_and_comments_is_not_counted(folder: Path) -> None:
    signs = ".a" * 20 + "[{" * 20 + "=" * 6_000
    quotes = "'" * 3
    texts = f"{quotes}{signs}{quotes}  # {signs}"
    toml(folder, '"Nobody (2026)"', texts)
    toml(folder, 'licence = "CC0-1.0"', f'licence = """\\"{signs}"""')
    toml(folder, 'version = "1"', f"version = '{signs}' # \"")
    toml(folder, "title = ", 'title = "" # ' + signs + "\n#")
    assert faults(folder) == ["instrument.toml, line 3: title is empty."]


@pytest.mark.slow
def test_the_worst_toml_within_the_bounds_is_read_in_a_moment(folder: Path) -> None:
    """Half a second of CPU time each, and a second and a half for the last."""
    deep = ".".join("abcdefghijklmno")
    tables = [
        f"[t{n}.{deep}]\n" + "".join(f"{deep}.k{m} = 1\n" for m in range(4)) for n in range(950)
    ]
    numbers = f"numbers = [{'1,' * 120_000}]\n"
    places = "".join(f'k{n} = "x"\n' for n in range(4_000))
    frame = 'id = "other"\nframe = "' + "".join(f"{{p{n}}}" for n in range(10_000)) + '"\n'
    text = (folder / "instrument.toml").read_text(encoding="utf-8")
    for worst in ("".join(tables), numbers, f"[fields]\n{places}[[wordings]]\n{frame}"):
        (folder / "instrument.toml").write_text(text.replace("[settings]", f"{worst}\n[settings]"))
        start = time.process_time()
        with pytest.raises(FaultsError):
            load_instrument(folder)
        assert time.process_time() - start < 10


def test_reading_stops_where_nobody_would_read_on(folder: Path) -> None:
    rows = "".join(f"c{n},C{n},odd,Body,form {n},is,\n" for n in range(99_000))
    append(folder, "conditions.csv", rows)
    with pytest.raises(FaultsError) as caught:
        load_instrument(folder)
    assert len(caught.value.faults) == 200
    assert str(caught.value).startswith(
        "conditions.csv cannot be used: 200 faults.\n  conditions.csv, line 4: the row "
        "has 7 cells, but the header has 6.\n"
    )
    assert str(caught.value).endswith(
        "\n  conditions.csv, line 203: the row has 7 cells, but the header has 6.\nThere may be "
        "more faults: reading stopped here."
    )


def test_more_prompts_than_anyone_could_ask_are_refused(folder: Path) -> None:
    rows = "".join(f"i{n},sit by {{someone}} {n},\n" for n in range(3_000))
    append(folder, "items.csv", rows)
    forms = "".join(f"c{n},C{n},odd,Body,form {n},is\n" for n in range(2_000))
    append(folder, "conditions.csv", forms)
    assert faults(folder) == [
        "conditions.csv: items × wordings × forms of conditions are 6,010,004. "
        "Allowed: up to 5,000,000."
    ]
    wordings = "".join(
        f'[[wordings]]\nid = "w{n}"\nframe = "It is <mask> to {{item}}."\n' for n in range(900)
    )
    toml(folder, "[settings]", f"{wordings}[settings]")
    rows = "".join(f"i{n},sit by {{someone}} {n},\n" for n in range(3_000, 90_000))
    append(folder, "items.csv", rows)
    assert faults(folder) == [
        "items.csv: items × wordings are 81,091,802. Allowed: up to 5,000,000."
    ]


def test_a_fault_in_one_row_does_not_hide_that_in_another(folder: Path) -> None:
    broken(folder, ("items.csv", "walk,walk", "Walk,walk"))
    broken(folder, ("items.csv", "tea with {someone}", "tea with {somone}"))
    assert len(faults(folder)) == 2


def test_a_byte_order_mark_and_other_line_ends_change_nothing(folder: Path) -> None:
    before = load_instrument(folder)
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_instrument(folder) == before
    (folder / "items.csv").write_bytes(b"\xef\xbb\xbf" + (folder / "items.csv").read_bytes())
    assert load_instrument(folder).content == before.content


def test_the_digest_changes_with_any_file(folder: Path) -> None:
    digests = {load_instrument(folder).digest}
    toml(folder, "Would you", "Could you")
    digests.add(load_instrument(folder).digest)
    broken(folder, ("items.csv", "have tea", "take tea"))
    digests.add(load_instrument(folder).digest)
    broken(folder, ("conditions.csv", "a cold", "a cough"))
    digests.add(load_instrument(folder).digest)
    assert len(digests) == 4


def test_many_rows_are_read_in_time_that_grows_with_their_number(folder: Path) -> None:
    """20,000 conditions and 20,000 forms of one: quadratic work would take minutes."""
    rows = [f"c{n},C{n},odd,Body,form {'x' * (n % 7)}{n},is" for n in range(20_000)]
    rows += [f"many,Many,even,Body,shape {n},is" for n in range(20_000)]
    header = "condition,name,group,category,form,verb"
    (folder / "conditions.csv").write_text("\n".join([header, *rows]) + "\n")
    start = time.process_time()
    assert len(load_instrument(folder).content.conditions) == 20_001
    assert time.process_time() - start < 20


def test_a_name_that_is_no_instrument() -> None:
    with pytest.raises(InputError) as caught:
        load_instrument("social-distnce")
    assert str(caught.value) == (
        "There is no instrument 'social-distnce'. Give a folder, or one of these: "
        "social-distance, people-sentiment, care-seeking, attribution, coreference, vignettes, "
        "decisions, two-people. Did you mean 'social-distance'?"
    )


# ── Sentence pairs ─────────────────────────────────────────────────────────────────────────────
