"""Every kind of broken instrument, and what is said of it, word for word."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from goffman.errors import FaultsError, InputError, InstrumentError
from goffman.instruments.loader import load_instrument
from goffman.instruments.types import Noun

TOML = """\
id = "tea"
version = "1"
title = "Would you have tea with …?"
kind = "fill"
citation = "Nobody (2026)"
licence = "CC0-1.0"

[slot]
name = "someone"
filled = "someone who {verb} {form}"
empty = "someone"

[[wordings]]
id = "plain"
frame = "It is <mask> to {item}."

[settings]
contrast = "odd"
"""
ITEMS = """\
item,text,keyed
tea,have tea with {someone},plain
walk,walk home with {someone},
"""
CONDITIONS = """\
condition,name,group,category,form,verb
tall,Tall,odd,Body,tall,is
cold,Cold,even,Illness,a cold,has
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An instrument without a fault."""
    folder = tmp_path / "tea"
    folder.mkdir()
    for name, text in (
        ("instrument.toml", TOML),
        ("items.csv", ITEMS),
        ("conditions.csv", CONDITIONS),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def change(name: str, old: str, new: str) -> Callable[[Path], None]:
    def act(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return act


def toml(old: str, new: str) -> Callable[[Path], None]:
    return change("instrument.toml", old, new)


def items(old: str, new: str) -> Callable[[Path], None]:
    return change("items.csv", old, new)


def conditions(old: str, new: str) -> Callable[[Path], None]:
    return change("conditions.csv", old, new)


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def faults(folder: Path) -> list[str]:
    with pytest.raises(InstrumentError) as caught:
        load_instrument(folder)
    return [str(fault).replace(str(folder), "DIR") for fault in caught.value.faults]


def test_the_instrument_that_is_broken_below_is_sound(folder: Path) -> None:
    assert load_instrument(folder).id == "tea"


def test_what_an_instrument_does_not_say_of_itself_is_english_and_a_condition(folder: Path) -> None:
    instrument = load_instrument(folder)
    assert (instrument.language, instrument.limits) == ("en", ())
    assert instrument.noun == Noun(one="condition", many="conditions")


@pytest.mark.parametrize("tag", ["de", "en-GB", "pt-BR", "es-419", "zh-Hant-TW", "haw"])
def test_what_an_instrument_says_of_itself(folder: Path, tag: str) -> None:
    at_top(f'language = "{tag}"\nlimits = ["Few items.", "One place."]')(folder)
    nouns('condition = ["illness", "illnesses"]')(folder)
    instrument = load_instrument(folder)
    assert (instrument.language, instrument.limits) == (tag, ("Few items.", "One place."))
    assert instrument.noun == Noun(one="illness", many="illnesses")


IDS = "Allowed: up to 64 lower-case letters, digits and single hyphens, such as 'social-distance'."

BROKEN = {
    "no instrument.toml": (
        remove("instrument.toml"),
        ["instrument.toml: not found in DIR."],
    ),
    "no items": (remove("items.csv"), ["items.csv: not found in DIR."]),
    "a misnamed table": (
        lambda folder: (folder / "items.csv").rename(folder / "item.csv"),
        ["items.csv: not found in DIR. Did you mean 'item.csv'?"],
    ),
    "columns between semicolons": (
        lambda folder: (folder / "items.csv").write_text(ITEMS.replace(",", ";")),
        ["items.csv, line 1: the columns are separated by semicolons. Use commas."],
    ),
    "columns between tabs": (
        lambda folder: (folder / "items.csv").write_text(ITEMS.replace(",", "\t")),
        ["items.csv, line 1: the columns are separated by tabs. Use commas."],
    ),
    "a text without its closing quote": (
        toml('title = "Would', 'title = "\nother = "'),
        ["instrument.toml, line 3: this is not TOML: a text has no closing quote."],
    ),
    "not TOML": (
        toml('title = "Would', "title = Would"),
        ["instrument.toml, line 3: this is not TOML: invalid value."],
    ),
    "not UTF-8": (
        lambda folder: (folder / "items.csv").write_bytes(
            ITEMS.encode() + "caf\xe9,x,\n".encode("latin-1")
        ),
        ["items.csv, line 4: this is not UTF-8 text. Save the file as UTF-8."],
    ),
    "a missing key": (
        toml('citation = "Nobody (2026)"\n', ""),
        ["instrument.toml: the key 'citation' is missing."],
    ),
    "an unknown key": (
        toml("licence =", "license ="),
        [
            "instrument.toml: the key 'licence' is missing.",
            (
                "instrument.toml, line 6: unknown key 'license'. Allowed: id, version, "
                "title, kind, citation, licence, asks, language, limits, nouns, by_default, conditions, "
                "slot, fields, wordings, settings, controls, completion, writing, "
                "writing-controls. Did you mean 'licence'?"
            ),
        ],
    ),
    "a number for a text": (
        toml('version = "1"', "version = 1"),
        ["instrument.toml, line 2: version is 1. It must be text in quotes."],
    ),
    "an empty text": (
        toml('"Nobody (2026)"', '""'),
        ["instrument.toml, line 5: citation is empty."],
    ),
    "an unknown kind": (
        toml('"fill"', '"fil"'),
        [
            "instrument.toml, line 4: kind is 'fil'. Allowed: fill, classify, ask, choose. "
            "Did you mean 'fill'?"
        ],
    ),
    "an id that is none": (
        toml('"tea"', '"Tea Time"'),
        [f"instrument.toml, line 1: id is 'Tea Time'. {IDS}"],
    ),
    "no slot": (
        toml(
            '[slot]\nname = "someone"\nfilled = "someone who {verb} {form}"\nempty = "someone"\n',
            "",
        ),
        [
            "instrument.toml: the key 'name' is missing in [slot].",
            "instrument.toml: the key 'filled' is missing in [slot].",
        ],
    ),
    "an unknown placeholder in the slot": (
        toml("{verb} {form}", "{verbs} {form}"),
        [
            "instrument.toml, line 10: a placeholder in filled is 'verbs'. Allowed: form, verb, plural, "
            "plural_verb, vignette. Did you mean 'verb'?"
        ],
    ),
    "a slot without a placeholder": (
        toml("someone who {verb} {form}", "someone strange"),
        [
            "instrument.toml, line 10: filled in [slot] is 'someone strange', which has no "
            "placeholder for a condition. Allowed: {form}, {verb}, {plural}, {plural_verb}, {vignette}."
        ],
    ),
    "a frame without the item": (
        toml("It is <mask> to {item}.", "It is <mask>."),
        [
            "instrument.toml, line 15: the frame of wording 'plain' must contain {item} exactly once."
        ],
    ),
    "an unknown placeholder in a frame": (
        toml("It is <mask> to {item}.", "{greeting} It is <mask> to {item}."),
        [
            "instrument.toml, line 15: the frame of wording 'plain' has '{greeting}'. "
            "Allowed: {item}, {someone}."
        ],
    ),
    "a wording twice": (
        toml("[settings]", '[[wordings]]\nid = "plain"\nframe = "<mask>: {item}"\n\n[settings]'),
        ["instrument.toml, line 18: the wording 'plain' appears twice."],
    ),
    "no wording on": (
        toml('id = "plain"', 'id = "plain"\ndefault = false'),
        ["instrument.toml: every wording has default = false, so nothing would be asked."],
    ),
    "a field that is a slot": (
        toml("[settings]", '[fields]\nsomeone = "you"\n\n[settings]'),
        [
            "instrument.toml, line 18: 'someone' cannot be the name of a field, because it "
            "already has a meaning."
        ],
    ),
    "an unknown group in the settings": (
        toml('contrast = "odd"', 'contrast = "od"'),
        [
            "instrument.toml, line 18: contrast in [settings] is 'od'. Allowed: odd, even. "
            "Did you mean 'odd'?"
        ],
    ),
    "an unknown column": (
        items("keyed", "keyd"),
        [
            (
                "items.csv, line 1: unknown column 'keyd'. Allowed: item, text, wording, "
                "dimension, keyed, choice_keyed, your_text, baseline, source. Did you mean 'keyed'?"
            )
        ],
    ),
    "a missing column": (
        items("item,text,keyed", "item,dimension,keyed"),
        ["items.csv, line 1: the column 'text' is missing."],
    ),
    "a column twice": (
        items("item,text,keyed", "item,text,text"),
        ["items.csv, line 1: the column 'text' appears 2 times."],
    ),
    "a row that is too short": (
        items("{someone},plain", "{someone}"),
        ["items.csv, line 2: the row has 2 cells, but the header has 3."],
    ),
    "bad quotes": (
        items("tea,have tea", 'tea,"have" tea'),
        ["items.csv, line 2: this is not CSV: ',' expected after '\"'."],
    ),
    "an empty table": (
        lambda folder: (folder / "items.csv").write_text("item,text\n"),
        ["items.csv: the table has no rows."],
    ),
    "an empty cell": (
        conditions("tall,Tall,odd", "tall,,odd"),
        ["conditions.csv, line 2: name is empty."],
    ),
    "a stray space": (
        conditions("a cold,has", "a cold ,has"),
        [
            (
                "conditions.csv, line 3: form is 'a cold '. Remove the extra space at the "
                "start, at the end or in the middle."
            )
        ],
    ),
    "a control sign": (
        conditions("a cold,has", "a\x1bcold,has"),
        [
            (
                "conditions.csv, line 3: form contains a line break, a special space or "
                "another invisible character."
            )
        ],
    ),
    "an item twice": (
        items("walk,walk", "tea,walk"),
        ["items.csv, line 3: the item 'tea' appears twice."],
    ),
    "an unknown keyd": (
        items("plain", "revers"),
        [
            "items.csv, line 2: keyed is 'revers'. Allowed: plain, reversed. "
            "Did you mean 'reversed'?"
        ],
    ),
    "an unknown wording": (
        lambda folder: (folder / "items.csv").write_text(
            "item,text,wording\ntea,have tea with {someone},plane\nwalk,go with {someone},plain\n"
        ),
        ["items.csv, line 2: wording is 'plane'. Allowed: plain. Did you mean 'plain'?"],
    ),
    "an unknown placeholder in an item": (
        items("tea with {someone}", "tea with {somebody}"),
        [
            (
                "items.csv, line 2: text has the unknown placeholder '{somebody}'. Allowed: "
                "{someone}. Did you mean 'someone'?"
            )
        ],
    ),
    "an item without a condition": (
        items("tea with {someone}", "tea alone"),
        [
            "items.csv, line 2: the sentence must have {someone} once: "
            "'It is <mask> to have tea alone.'."
        ],
    ),
    "two masks": (
        items("have tea with", "have <mask> with"),
        [
            "items.csv, line 2: the sentence must have <mask> once, not 2 times: "
            "'It is <mask> to have <mask> with {someone}.'."
        ],
    ),
    "a mask for a classifier": (
        toml('"fill"', '"classify"'),
        [
            (
                "items.csv, line 2: the sentence has <mask>, but only instruments of kind "
                "fill can have it: 'It is <mask> to have tea with {someone}.'."
            ),
            (
                "items.csv, line 3: the sentence has <mask>, but only instruments of kind "
                "fill can have it: 'It is <mask> to walk home with {someone}.'."
            ),
        ],
    ),
    "a form without its verb": (
        conditions("tall,is", "tall,"),
        [("conditions.csv, line 2: verb is empty, but 'filled' in [slot] uses {verb}.")],
    ),
    "a form twice": (
        conditions("cold,Cold,even,Illness,a cold,has", "tall,Tall,odd,Body,tall,is"),
        [
            (
                "conditions.csv, line 3: this is the same text ('someone who is tall') as "
                "another form of 'tall'."
            )
        ],
    ),
    "a condition in two groups": (
        conditions("cold,Cold,even,Illness,a cold,has", "tall,Tall,even,Body,high,is"),
        [
            (
                "conditions.csv, line 3: group is 'even' here, but 'odd' in an earlier row "
                "of condition 'tall'. All rows of a condition must have the same "
                "group."
            )
        ],
    ),
    "a name twice": (
        conditions("cold,Cold", "cold,Tall"),
        ["conditions.csv, line 3: the condition 'tall' has the name 'Tall' too."],
    ),
    "a condition named baseline": (
        conditions("cold,Cold", "baseline,Cold"),
        [
            (
                "conditions.csv, line 3: condition cannot be 'baseline': this name is for "
                "prompts without a condition."
            )
        ],
    ),
    "a condition whose id is none": (
        conditions("cold,Cold", "a cold,Cold"),
        [f"conditions.csv, line 3: condition is 'a cold'. {IDS}"],
    ),
}


BROKEN |= {
    "a mask in a form": (
        conditions("tall,is", "tall <mask>,is"),
        ["conditions.csv, line 2: form is 'tall <mask>'. It must not contain '<mask>'."],
    ),
    "a place in the baseline": (
        toml('empty = "someone"', 'empty = "some {form}"'),
        [
            (
                "instrument.toml, line 11: empty in [slot] is 'some {form}'. It must not "
                "contain '{'."
            ),
            (
                "instrument.toml, line 11: empty in [slot] is 'some {form}'. It must not "
                "contain '}'."
            ),
        ],
    ),
    "a baseline of spaces": (
        toml('empty = "someone"', 'empty = "  "'),
        ["instrument.toml, line 11: empty in [slot] is empty."],
    ),
    "a stray brace": (
        items("have tea with", "have tea} with"),
        ["items.csv, line 2: text has a stray brace: 'have tea} with {someone}'."],
    ),
    "wordings that are no tables": (
        toml('[[wordings]]\nid = "plain"\nframe = "It is <mask> to {item}."', ""),
        [
            "items.csv, line 2: the sentence must have <mask> once, not 0 times: "
            "'have tea with {someone}'.",
            "items.csv, line 3: the sentence must have <mask> once, not 0 times: "
            "'walk home with {someone}'.",
        ],
    ),
    "a number for the wordings": (
        lambda folder: (
            toml('licence = "CC0-1.0"', 'licence = "CC0-1.0"\nwordings = 5')(folder)
            or toml('[[wordings]]\nid = "plain"\nframe = "It is <mask> to {item}."', "")(folder)
            or items("have tea", "<mask> tea")(folder)
            or items("walk home", "<mask> home")(folder)
        ),
        [
            "instrument.toml, line 7: wordings is 5. It must be a list of tables such as "
            "[[wordings]]."
        ],
    ),
    "a wording named all": (
        toml('id = "plain"', 'id = "all"'),
        ["instrument.toml, line 14: 'all' cannot be the id of a wording: it means all of them."],
    ),
    "a baseline and an empty slot": (
        lambda folder: (folder / "items.csv").write_text(
            "item,text,baseline\ntea,have tea with {someone},have tea\n"
        ),
        [
            (
                "items.csv, line 2: there is a baseline here, and 'empty' in [slot]. Keep "
                "only one of the two."
            ),
        ],
    ),
    "baselines that do not do": (
        lambda folder: (
            toml('empty = "someone"\n', "")(folder),
            (folder / "items.csv").write_text(
                "item,text,baseline\ntea,have tea with {someone},have tea\n"
                "walk,walk with {someone},\nrun,run with {someone},run with {someone}\n"
                "sit,sit with {someone},sit <mask>\n"
            ),
        ),
        [
            "items.csv, line 3: baseline is empty here, but not for other items.",
            ("items.csv, line 4: baseline is 'run with {someone}'. It must not contain a brace."),
            (
                "items.csv, line 5: baseline is 'sit <mask>'. It must contain <mask> as "
                "many times as text does."
            ),
        ],
    ),
    "an item keyed in two ways": (
        lambda folder: (
            (folder / "items.csv").write_text(
                "item,text,wording,keyed\ntea,have tea with {someone},plain,plain\n"
                "tea,drink tea with {someone},other,reversed\n"
            )
            and toml(
                "[settings]", '[[wordings]]\nid = "other"\nframe = "<mask>: {item}"\n[settings]'
            )(folder)
        ),
        [
            "items.csv, line 3: keyed is 'reversed', but 'plain' in an earlier row of 'tea'. "
            "All rows of an item must have the same keyed."
        ],
    ),
    "an item that a wording lacks": (
        lambda folder: (
            (folder / "items.csv").write_text(
                "item,text,wording\ntea,have tea with {someone},plain\n"
                "tea,drink tea with {someone},other\nwalk,walk with {someone},plain\n"
            )
            and toml(
                "[settings]", '[[wordings]]\nid = "other"\nframe = "<mask>: {item}"\n[settings]'
            )(folder)
        ),
        ["items.csv: the wording 'other' has no item 'walk'."],
    ),
    "an unknown setting": (
        toml('contrast = "odd"', 'contrast = "odd"\ntopk = 50'),
        [
            (
                "instrument.toml, line 19: unknown key 'topk' in [settings]. Allowed: "
                "measure, contrast, against, placement, counted, instead, top_k, depth, width, "
                "pairs, trials, margin, preference_margin. Did you mean 'top_k'?"
            )
        ],
    ),
    "a setting that is no number": (
        toml('contrast = "odd"', 'contrast = "odd"\ntop_k = -3'),
        ["instrument.toml, line 19: top_k in [settings] must be a whole number above 0."],
    ),
    "a group against itself": (
        toml('contrast = "odd"', 'contrast = "odd"\nagainst = "odd"'),
        ["instrument.toml, line 19: contrast and against in [settings] are the same group."],
    ),
    "a space that is not seen": (
        conditions("a cold,has", "a\u00a0cold,has"),
        [
            (
                "conditions.csv, line 3: form contains a line break, a special space or "
                "another invisible character."
            )
        ],
    ),
    "an endless id": (
        toml('"tea"', '"' + "a" * 100_000 + '"'),
        [f"instrument.toml, line 1: id is '{'a' * 64}…'. {IDS}"],
    ),
    "a table that is a folder": (
        lambda folder: (folder / "items.csv").unlink() or (folder / "items.csv").mkdir(),
        ["items.csv: DIR/items.csv is a folder. Give a regular file."],
    ),
    "an empty file": (
        lambda folder: (folder / "items.csv").write_text(""),
        ["items.csv: the file is empty."],
    ),
    "conditions at an impossible path": (
        toml('licence = "CC0-1.0"', 'licence = "CC0-1.0"\nconditions = "a\\u0000b"'),
        [
            (
                "instrument.toml, line 7: conditions contains a line break, a special "
                "space or another invisible character."
            ),
            "a\0b: no file can have this name. Give another one.",
        ],
    ),
    "a number without end": (
        toml('version = "1"', f"version = {'1' * 5_000}"),
        [
            "instrument.toml: this is not TOML: exceeds the limit (4300 digits) for integer string "
            "conversion: value has 5000 digits."
        ],
    ),
    "lists without end": (
        toml('version = "1"', f"version = {'[' * 5_000}"),
        ["instrument.toml: lists and tables are nested 5,002 deep. Allowed: up to 16."],
    ),
    "a table that is a pipe": (
        lambda folder: (folder / "items.csv").unlink() or os.mkfifo(folder / "items.csv"),
        ["items.csv: DIR/items.csv is a named pipe. Give a regular file."],
    ),
}

BROKEN |= {
    "TOML of too many bytes": (
        toml("Nobody (2026)", "x" * 256 * 1024),
        ["instrument.toml: DIR/instrument.toml has 262,426 bytes. Allowed: up to 262,144."],
    ),
    "a table of too many bytes": (
        items("{someone},\n", "{someone}," + " " * 16 * 1024 * 1024),
        ["items.csv: DIR/items.csv has 16,777,296 bytes. Allowed: up to 16,777,216."],
    ),
    "a table of too many lines": (
        items("{someone},\n", "{someone}," + "\n" * 100_000),
        ["items.csv: the file has 100,002 lines. Allowed: up to 100,000."],
    ),
    "a table of too many columns": (
        items("item,text,keyed", "item,text,keyed" + ",x" * 98),
        ["items.csv, line 1: the table has 101 columns. Allowed: up to 100."],
    ),
    "a key of many parts": (
        toml('version = "1"', f"{'a . ' * 16}a = 1"),
        ["instrument.toml: a key has 17 parts. Allowed: up to 16."],
    ),
    "a table of many parts": (
        toml("[slot]", f"[{'.a' * 100_000}]".replace("[.", "[")),
        ["instrument.toml: a key has 100,000 parts. Allowed: up to 16."],
    ),
    "parts in quotes": (
        toml("[slot]", f"""[{'"a".' * 10_000 + "'b'." * 10_000}c]"""),
        ["instrument.toml: a key has 20,001 parts. Allowed: up to 16."],
    ),
    "parts after a text that ends in four quotes": (
        toml('version = "1"', f'version = ["""x"""", {{{"a." * 50_000}a = 1}}]'),
        ["instrument.toml: a key has 50,001 parts. Allowed: up to 16."],
    ),
    "tables within tables": (
        toml('version = "1"', f"version = {'{a = ' * 17}1{'}' * 17}"),
        ["instrument.toml: lists and tables are nested 17 deep. Allowed: up to 16."],
    ),
    "many tables": (
        toml("[settings]", "[[wordings]]\n" * 998 + "[settings]"),
        ["instrument.toml: there are 1,001 tables. Allowed: up to 1,000."],
    ),
    "many tables in one line": (
        toml('version = "1"', f"version = [{'{},' * 998}]"),
        ["instrument.toml: there are 1,001 tables. Allowed: up to 1,000."],
    ),
    "many keys": (
        toml("[settings]", "".join(f"k{n} = 1\n" for n in range(5_000)) + "[settings]"),
        ["instrument.toml: there are 5,012 keys. Allowed: up to 5,000."],
    ),
}


def at_top(line: str) -> Callable[[Path], None]:
    """A line after the licence: the seventh."""
    return toml('licence = "CC0-1.0"', f'licence = "CC0-1.0"\n{line}')


def nouns(line: str) -> Callable[[Path], None]:
    """A line in [nouns]: the nineteenth."""
    return toml("[settings]", f"[nouns]\n{line}\n\n[settings]")


TAGS = "Allowed: a BCP 47 tag such as 'en', 'de' or 'pt-BR'."
LIMITS = (
    "instrument.toml, line 7: limits must be a list of sentences, such as "
    '["All names are from one country."].'
)
TWO = (
    "instrument.toml, line 18: condition in [nouns] must be the singular and the plural, such as "
    '["diagnosis", "diagnoses"].'
)

BROKEN |= {
    "a language by its name": (
        at_top('language = "German"'),
        [f"instrument.toml, line 7: language is 'German'. {TAGS}"],
    ),
    "a region in small letters": (
        at_top('language = "en-us"'),
        [f"instrument.toml, line 7: language is 'en-us'. {TAGS}"],
    ),
    "no language after its key": (
        at_top('language = ""'),
        ["instrument.toml, line 7: language is empty."],
    ),
    "a number for a language": (
        at_top("language = 1"),
        ["instrument.toml, line 7: language is 1. It must be text in quotes."],
    ),
    "one limit without its list": (at_top('limits = "None of note."'), [LIMITS]),
    "a number among the limits": (at_top('limits = ["None of note.", 1]'), [LIMITS]),
    "an empty limit": (
        at_top('limits = [\n  "None of note.",\n  " ",\n]'),
        ["instrument.toml, line 7: sentence 2 of limits is empty."],
    ),
    "a limit of two lines": (
        at_top('limits = ["None\\nof note."]'),
        [
            (
                "instrument.toml, line 7: sentence 1 of limits contains a line break, a "
                "special space or another invisible character."
            )
        ],
    ),
    "a long limit": (
        at_top(f'limits = ["{"x" * 301}"]'),
        ["instrument.toml, line 7: sentence 1 of limits has 301 characters. Allowed: up to 300."],
    ),
    "many limits": (
        at_top("limits = [" + '"x",' * 21 + "]"),
        ["instrument.toml, line 7: limits has 21 sentences. Allowed: up to 20."],
    ),
    "nouns outside their table": (
        at_top('nouns = ["group", "groups"]'),
        ["instrument.toml, line 7: nouns is a list. It must be a table such as [slot]."],
    ),
    "a noun for something else": (
        nouns('conditon = ["group", "groups"]'),
        [
            (
                "instrument.toml, line 18: unknown key 'conditon' in [nouns]. Allowed: "
                "condition. Did you mean 'condition'?"
            )
        ],
    ),
    "a noun without its plural": (nouns('condition = "group"'), [TWO]),
    "three nouns": (nouns('condition = ["a", "b", "c"]'), [TWO]),
    "a number for a noun": (nouns('condition = ["a", 2]'), [TWO]),
    "an empty plural": (
        nouns('condition = ["group", ""]'),
        ["instrument.toml, line 18: the plural in [nouns] is empty."],
    ),
    "a singular with a space too many": (
        nouns('condition = [" group", "groups"]'),
        [
            (
                "instrument.toml, line 18: the singular in [nouns] is ' group'. Remove the "
                "extra space at the start, at the end or in the middle."
            )
        ],
    ),
    "a long noun": (
        nouns(f'condition = ["{"x" * 41}", "xs"]'),
        ["instrument.toml, line 18: the singular in [nouns] has 41 characters. Allowed: up to 40."],
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_every_fault_is_said(folder: Path, what: str) -> None:
    breaks, expected = BROKEN[what]
    breaks(folder)
    assert faults(folder) == expected


def test_what_stands_in_texts_and_comments_is_not_counted(folder: Path) -> None:
    signs = ".a" * 20 + "[{" * 20 + "=" * 6_000
    quotes = "'" * 3
    texts = f"{quotes}{signs}{quotes}  # {signs}"
    toml('"Nobody (2026)"', texts)(folder)
    toml('licence = "CC0-1.0"', f'licence = """\\"{signs}"""')(folder)
    toml('version = "1"', f"version = '{signs}' # \"")(folder)
    toml("title = ", 'title = "" # ' + signs + "\n#")(folder)
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
    for worst in ("".join(tables), numbers, f"[fields]\n{places}[[wordings]]\n{frame}"):
        (folder / "instrument.toml").write_text(TOML.replace("[settings]", f"{worst}\n[settings]"))
        start = time.process_time()
        with pytest.raises(FaultsError):
            load_instrument(folder)
        assert time.process_time() - start < 10


def test_reading_stops_where_nobody_would_read_on(folder: Path) -> None:
    rows = "".join(f"c{n},C{n},odd,Body,form {n},is,\n" for n in range(99_000))
    (folder / "conditions.csv").write_text(CONDITIONS + rows, encoding="utf-8")
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
    (folder / "items.csv").write_text(ITEMS + rows, encoding="utf-8")
    forms = "".join(f"c{n},C{n},odd,Body,form {n},is\n" for n in range(2_000))
    (folder / "conditions.csv").write_text(CONDITIONS + forms, encoding="utf-8")
    assert faults(folder) == [
        "conditions.csv: items × wordings × forms of conditions are 6,010,004. "
        "Allowed: up to 5,000,000."
    ]
    wordings = "".join(
        f'[[wordings]]\nid = "w{n}"\nframe = "It is <mask> to {{item}}."\n' for n in range(900)
    )
    toml("[settings]", f"{wordings}[settings]")(folder)
    rows = "".join(f"i{n},sit by {{someone}} {n},\n" for n in range(90_000))
    (folder / "items.csv").write_text(ITEMS + rows, encoding="utf-8")
    assert faults(folder) == [
        "items.csv: items × wordings are 81,091,802. Allowed: up to 5,000,000."
    ]


def test_all_faults_are_said_at_once(folder: Path) -> None:
    toml('"fill"', '"fil"')(folder)
    items("plain", "revers")(folder)
    conditions("tall,Tall,odd", "tall,,odd")(folder)
    with pytest.raises(InstrumentError) as caught:
        load_instrument(folder)
    assert str(caught.value) == (
        f"{folder} cannot be used: 3 faults.\n"
        "  instrument.toml, line 4: kind is 'fil'. Allowed: fill, classify, ask, choose. "
        "Did you mean 'fill'?\n"
        "  items.csv, line 2: keyed is 'revers'. Allowed: plain, reversed. "
        "Did you mean 'reversed'?\n"
        "  conditions.csv, line 2: name is empty."
    )


def test_a_fault_in_one_row_does_not_hide_that_in_another(folder: Path) -> None:
    items("walk,walk", "Walk,walk")(folder)
    items("tea with {someone}", "tea with {somone}")(folder)
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
    toml("Would you", "Could you")(folder)
    digests.add(load_instrument(folder).digest)
    items("have tea", "take tea")(folder)
    digests.add(load_instrument(folder).digest)
    conditions("a cold", "a cough")(folder)
    digests.add(load_instrument(folder).digest)
    assert len(digests) == 4


def test_many_rows_are_read_in_time_that_grows_with_their_number(folder: Path) -> None:
    """20,000 conditions and 20,000 forms of one: quadratic work would take minutes."""
    rows = [f"c{n},C{n},odd,Body,form {'x' * (n % 7)}{n},is" for n in range(20_000)]
    rows += [f"many,Many,even,Body,shape {n},is" for n in range(20_000)]
    header = CONDITIONS.splitlines()[0]
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

PAIRS_TOML = """\
id = "who"
version = "1"
title = "Who?"
kind = "ask"
citation = "Nobody (2026)"
licence = "CC0-1.0"
question = "Who is '{pronoun}'?"

[settings]
pairs = 2
placement = "by-stereotype"
"""
FRAMES = (
    "frame,type,referent,text\nfall,type-1,first,The {first} saw the {second} when {he} fell.\n"
)
JOBS = "occupation,gender\nguard,male\nnurse,female\n"
ADJECTIVES = "male,female\nold,mean\n"


@pytest.fixture
def pairs_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "who"
    folder.mkdir()
    files = {
        "instrument.toml": PAIRS_TOML,
        "frames.csv": FRAMES,
        "occupations.csv": JOBS,
        "adjectives.csv": ADJECTIVES,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


BROKEN_PAIRS = {
    "a question without the pronoun": (
        toml("'{pronoun}'", "it"),
        [
            "instrument.toml, line 7: question must contain {pronoun} exactly once, and no other placeholder."
        ],
    ),
    "no frames": (remove("frames.csv"), ["frames.csv: not found in DIR."]),
    "a frame without a pronoun": (
        change("frames.csv", "{he}", "he"),
        [
            "frames.csv, line 2: text must have {first}, {second} and one of {he}, {him}, {his}, "
            "{himself}, each once: 'The {first} saw the {second} when he fell.'."
        ],
    ),
    "an unknown type": (
        change("frames.csv", "type-1", "type1"),
        ["frames.csv, line 2: type is 'type1'. Allowed: type-1, type-2. Did you mean 'type-1'?"],
    ),
    "an unknown referent": (
        change("frames.csv", "first,The", "third,The"),
        ["frames.csv, line 2: referent is 'third'. Allowed: first, second."],
    ),
    "a frame twice": (
        change("frames.csv", FRAMES, FRAMES + FRAMES.splitlines()[1] + "\n"),
        ["frames.csv, line 3: the frame 'fall' appears twice."],
    ),
    "an unknown gender": (
        change("occupations.csv", "nurse,female", "nurse,femal"),
        [
            "occupations.csv, line 3: gender is 'femal'. Allowed: male, female. "
            "Did you mean 'female'?",
            "occupations.csv: no occupation has the gender 'female'; a sentence needs one of each.",
        ],
    ),
    "an occupation twice": (
        change("occupations.csv", "guard,male", "guard,male\nGuard,male"),
        ["occupations.csv, line 3: 'Guard' is already used for 'guard'."],
    ),
    "a share of women that is none": (
        change(
            "occupations.csv",
            JOBS,
            "occupation,gender,percent_women\nguard,male,2O\nnurse,female,90\n",
        ),
        [
            "occupations.csv, line 2: percent_women is '2O'. Allowed: a number from 0 to 100.",
        ],
    ),
    "neither yes nor no": (
        change(
            "frames.csv",
            FRAMES,
            FRAMES.replace("text", "text,they").replace("fell.", "fell.,maybe"),
        ),
        ["frames.csv, line 2: they is 'maybe'. Allowed: yes, no."],
    ),
    "no adjective in a setting": (
        change("adjectives.csv", "old,mean", ","),
        ["adjectives.csv, line 2: male and female are both empty."],
    ),
    "a setting twice": (
        change("adjectives.csv", "old,mean", "old,mean\nold,mean"),
        ["adjectives.csv, line 3: the setting 'old,mean' appears twice."],
    ),
    "no number of pairs": (
        toml("pairs = 2\n", ""),
        ["instrument.toml: the key 'pairs' is missing in [settings]."],
    ),
    "an unknown placement": (
        toml("by-stereotype", "by-sterotype"),
        [
            "instrument.toml, line 11: placement in [settings] is 'by-sterotype'. "
            "Allowed: by-stereotype, by-position, both. Did you mean 'by-stereotype'?"
        ],
    ),
}


BROKEN_PAIRS |= {
    "a kind that has no question": (
        toml('"ask"', '"fill"'),
        ["instrument.toml, line 4: kind is 'fill'. Allowed: ask."],
    ),
    "a slot beside a question": (
        toml("[settings]", '[slot]\nname = "x"\n\n[settings]'),
        [
            (
                "instrument.toml, line 9: unknown key 'slot'. Allowed: id, version, title, "
                "kind, citation, licence, asks, language, limits, nouns, by_default, question, settings, "
                "controls, completion, writing, writing-controls."
            )
        ],
    ),
    "sentence pairs in a language without their grammar": (
        at_top('language = "de"'),
        [
            "instrument.toml, line 7: language is 'de', but sentence pairs can only be in "
            "English: goffman does not know the pronouns and articles of other languages."
        ],
    ),
    "an occupation after a": (
        change("frames.csv", "The {first}", "A {first}"),
        [
            "frames.csv, line 2: {first} and {second} must come after 'the': "
            "'A {first} saw the {second} when {he} fell.'."
        ],
    ),
    "a small letter at the start": (
        change("frames.csv", "The {first}", "the {first}"),
        [
            "frames.csv, line 2: text must begin with a capital letter: "
            "'the {first} saw the {second} when {he} fell.'."
        ],
    ),
    "an occupation in two spellings": (
        change("occupations.csv", "guard,male", "body guard,male\nbody-guard,male"),
        ["occupations.csv, line 3: 'body-guard' is already used for 'body guard'."],
    ),
    "an adjective that is none": (
        change("adjectives.csv", "old,mean", '"a,b",mean'),
        ["adjectives.csv, line 2: male is 'a,b'. Allowed: words of letters."],
    ),
}


@pytest.mark.parametrize("what", BROKEN_PAIRS)
def test_every_fault_of_sentence_pairs_is_said(pairs_folder: Path, what: str) -> None:
    breaks, expected = BROKEN_PAIRS[what]
    assert load_instrument(pairs_folder).id == "who"
    breaks(pairs_folder)
    assert faults(pairs_folder) == expected
