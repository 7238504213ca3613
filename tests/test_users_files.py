"""Every kind of file that users bring, broken in every way: what is said stands in one text.

``golden/users_files.txt`` has all messages; `make golden` renews it, and its diff is to be read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from breaking import broken, sound
from goffman.anchors.loader import load_anchor
from goffman.errors import InputError
from goffman.gate.rules import read_thresholds
from goffman.instruments.identities import identities, read_personas
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.lexicons.attitude import load_attitudes
from goffman.lexicons.gender import load_gender
from goffman.modes import mode_of

APPROVED = Path(__file__).parent / "golden" / "users_files.txt"

TOML, ITEMS, CONDITIONS = "instrument.toml", "items.csv", "conditions.csv"
CHOICE, CONTROLS, CHOICE_CONTROLS = "choice.toml", "controls.csv", "choice-controls.csv"
WRITING, ANCHOR, VALUES = "writing-controls.csv", "anchor.toml", "values.csv"
RULES, LINES, QUESTIONS = "goffman.toml", "mine.jsonl", "questions.csv"

PEOPLE = '\n[[people]]\nid = "woman"\ngender = "female"\ntexts = ["woman"]\n'
STEM = """\
title = "Who?"
request = "Answer."
no_answer = "Unsure"

[[stems]]
id = "refers"
text = "{item} Who is {pronoun}?"
"""
OWN_CONTROLS = (
    CHOICE,
    lambda text: f'{text}[controls]\nscore = "separation"\ntask = "tell"\nfloor = 0.8\n',
)
OTHER_WORDING = (
    TOML,
    "[settings]",
    '[[wordings]]\nid = "other"\nframe = "<mask>: {item}"\n[settings]',
)


def at_top(line: str) -> tuple[str, str, str]:
    """A line after the licence: the seventh."""
    return TOML, 'licence = "CC0-1.0"', f'licence = "CC0-1.0"\n{line}'


def nouns(line: str) -> tuple[str, str, str]:
    return TOML, "[settings]", f"[nouns]\n{line}\n\n[settings]"


def external(name: str, path: Path) -> object:
    """The prompts of another study's file."""
    return render(mode_of(load_instrument(name), "reply"), PromptOptions(file=path))


READERS = {
    "anchor": load_anchor,
    "identities": lambda folder: identities(str(folder / "height.toml")),
    "personas": lambda folder: read_personas(folder / "mine.toml"),
    "ratings": lambda folder: load_attitudes([folder / "mine.csv"]),
    "gender-words": lambda folder: load_gender(folder / "own.csv"),
    "rules": lambda folder: read_thresholds(folder / RULES),
    "published-vignettes": lambda folder: external("vignettes", folder / LINES),
    "published-questions": lambda folder: external("decisions", folder / QUESTIONS),
}
"""What reads a base that is no instrument."""

# What is broken → the change: (file, text) for a new text, (file, None) without the file,
# (file, old, new) for a part of it; or what is done to the folder; or several of these.
BROKEN: dict[str, dict[str, Any]] = {
    "tea": {
        "no instrument.toml": (TOML, None),
        "no items": (ITEMS, None),
        "a misnamed table": lambda folder: (folder / ITEMS).rename(folder / "item.csv"),
        "columns between semicolons": (ITEMS, lambda text: text.replace(",", ";")),
        "columns between tabs": (ITEMS, lambda text: text.replace(",", "\t")),
        "a text without its closing quote": (TOML, 'title = "Would', 'title = "\nother = "'),
        "not TOML": (TOML, 'title = "Would', "title = Would"),
        "not UTF-8": (ITEMS, b"item,text\n\ncaf\xe9,x\n"),
        "a missing key": (TOML, 'citation = "Nobody (2026)"\n', ""),
        "an unknown key": (TOML, "licence =", "license ="),
        "a number for a text": (TOML, 'version = "1"', "version = 1"),
        "an empty text": (TOML, '"Nobody (2026)"', '""'),
        "an unknown kind": (TOML, '"fill"', '"fil"'),
        "an id that is none": (TOML, '"tea"', '"Tea Time"'),
        "no slot": (
            TOML,
            '[slot]\nname = "someone"\nfilled = "someone who {verb} {form}"\nempty = "someone"\n',
            "",
        ),
        "an unknown placeholder in the slot": (TOML, "{verb} {form}", "{verbs} {form}"),
        "a slot without a placeholder": (TOML, "someone who {verb} {form}", "someone strange"),
        "a frame without the item": (TOML, "It is <mask> to {item}.", "It is <mask>."),
        "an unknown placeholder in a frame": (
            TOML,
            "It is <mask> to {item}.",
            "{greeting} It is <mask> to {item}.",
        ),
        "a wording twice": (
            TOML,
            "[settings]",
            '[[wordings]]\nid = "plain"\nframe = "<mask>: {item}"\n\n[settings]',
        ),
        "no wording on": (TOML, 'id = "plain"', 'id = "plain"\ndefault = false'),
        "a field that is a slot": (TOML, "[settings]", '[fields]\nsomeone = "you"\n\n[settings]'),
        "an unknown group in the settings": (TOML, 'contrast = "odd"', 'contrast = "od"'),
        "an unknown column": (ITEMS, "keyed", "keyd"),
        "a missing column": (ITEMS, "item,text,keyed", "item,dimension,keyed"),
        "a column twice": (ITEMS, "item,text,keyed", "item,text,text"),
        "a row that is too short": (ITEMS, "{someone},plain", "{someone}"),
        "bad quotes": (ITEMS, "tea,have tea", 'tea,"have" tea'),
        "an empty table": (ITEMS, "item,text\n"),
        "an empty cell": (CONDITIONS, "tall,Tall,odd", "tall,,odd"),
        "a stray space": (CONDITIONS, "a cold,has", "a cold ,has"),
        "a control sign": (CONDITIONS, "a cold,has", "a\x1bcold,has"),
        "an item twice": (ITEMS, "walk,walk", "tea,walk"),
        "an unknown keyd": (ITEMS, "plain", "revers"),
        "an unknown wording": (
            ITEMS,
            "item,text,wording\ntea,have tea with {someone},plane\nwalk,go with {someone},plain\n",
        ),
        "an unknown placeholder in an item": (ITEMS, "tea with {someone}", "tea with {somebody}"),
        "an item without a condition": (ITEMS, "tea with {someone}", "tea alone"),
        "two masks": (ITEMS, "have tea with", "have <mask> with"),
        "a mask for a classifier": (TOML, '"fill"', '"classify"'),
        "a form without its verb": (CONDITIONS, "tall,is", "tall,"),
        "a form twice": (
            CONDITIONS,
            "cold,Cold,even,Illness,a cold,has",
            "tall,Tall,odd,Body,tall,is",
        ),
        "a condition in two groups": (
            CONDITIONS,
            "cold,Cold,even,Illness,a cold,has",
            "tall,Tall,even,Body,high,is",
        ),
        "a name twice": (CONDITIONS, "cold,Cold", "cold,Tall"),
        "a condition named baseline": (CONDITIONS, "cold,Cold", "baseline,Cold"),
        "a condition whose id is none": (CONDITIONS, "cold,Cold", "a cold,Cold"),
        "a mask in a form": (CONDITIONS, "tall,is", "tall <mask>,is"),
        "a place in the baseline": (TOML, 'empty = "someone"', 'empty = "some {form}"'),
        "a baseline of spaces": (TOML, 'empty = "someone"', 'empty = "  "'),
        "a stray brace": (ITEMS, "have tea with", "have tea} with"),
        "wordings that are no tables": (
            TOML,
            '[[wordings]]\nid = "plain"\nframe = "It is <mask> to {item}."',
            "",
        ),
        "a number for the wordings": [
            (TOML, 'licence = "CC0-1.0"', 'licence = "CC0-1.0"\nwordings = 5'),
            (TOML, '[[wordings]]\nid = "plain"\nframe = "It is <mask> to {item}."', ""),
            (ITEMS, "have tea", "<mask> tea"),
            (ITEMS, "walk home", "<mask> home"),
        ],
        "a wording named all": (TOML, 'id = "plain"', 'id = "all"'),
        "a baseline and an empty slot": (
            ITEMS,
            "item,text,baseline\ntea,have tea with {someone},have tea\n",
        ),
        "baselines that do not do": [
            (TOML, 'empty = "someone"\n', ""),
            (
                ITEMS,
                "item,text,baseline\ntea,have tea with {someone},have tea\n"
                "walk,walk with {someone},\nrun,run with {someone},run with {someone}\n"
                "sit,sit with {someone},sit <mask>\n",
            ),
        ],
        "an item keyed in two ways": [
            (
                ITEMS,
                "item,text,wording,keyed\ntea,have tea with {someone},plain,plain\n"
                "tea,drink tea with {someone},other,reversed\n",
            ),
            OTHER_WORDING,
        ],
        "an item that a wording lacks": [
            (
                ITEMS,
                "item,text,wording\ntea,have tea with {someone},plain\n"
                "tea,drink tea with {someone},other\nwalk,walk with {someone},plain\n",
            ),
            OTHER_WORDING,
        ],
        "an unknown setting": (TOML, 'contrast = "odd"', 'contrast = "odd"\ntopk = 50'),
        "a setting that is no number": (TOML, 'contrast = "odd"', 'contrast = "odd"\ntop_k = -3'),
        "a group against itself": (TOML, 'contrast = "odd"', 'contrast = "odd"\nagainst = "odd"'),
        "a space that is not seen": (CONDITIONS, "a cold,has", "a\u00a0cold,has"),
        "an endless id": (TOML, '"tea"', '"' + "a" * 100_000 + '"'),
        "a table that is a folder": [(ITEMS, None), lambda folder: (folder / ITEMS).mkdir()],
        "an empty file": (ITEMS, ""),
        "conditions at an impossible path": (
            TOML,
            'licence = "CC0-1.0"',
            'licence = "CC0-1.0"\nconditions = "a\\u0000b"',
        ),
        "a number without end": (TOML, 'version = "1"', f"version = {'1' * 5_000}"),
        "lists without end": (TOML, 'version = "1"', f"version = {'[' * 5_000}"),
        "a table that is a pipe": [(ITEMS, None), lambda folder: os.mkfifo(folder / ITEMS)],
        "TOML of too many bytes": (TOML, "Nobody (2026)", "x" * 256 * 1024),
        "a table of too many bytes": (ITEMS, "{someone},\n", "{someone}," + " " * 16 * 1024 * 1024),
        "a table of too many lines": (ITEMS, "{someone},\n", "{someone}," + "\n" * 100_000),
        "a table of too many columns": (ITEMS, "item,text,keyed", "item,text,keyed" + ",x" * 98),
        "a key of many parts": (TOML, 'version = "1"', f"{'a . ' * 16}a = 1"),
        "a table of many parts": (TOML, "[slot]", f"[{'.a' * 100_000}]".replace("[.", "[")),
        "parts in quotes": (TOML, "[slot]", f"""[{'"a".' * 10_000 + "'b'." * 10_000}c]"""),
        "parts after a text that ends in four quotes": (
            TOML,
            'version = "1"',
            f'version = ["""x"""", {{{"a." * 50_000}a = 1}}]',
        ),
        "tables within tables": (TOML, 'version = "1"', f"version = {'{a = ' * 17}1{'}' * 17}"),
        "many tables": (TOML, "[settings]", "[[wordings]]\n" * 998 + "[settings]"),
        "many tables in one line": (TOML, 'version = "1"', f"version = [{'{},' * 998}]"),
        "many keys": (
            TOML,
            "[settings]",
            "".join(f"k{n} = 1\n" for n in range(5_000)) + "[settings]",
        ),
        "a language by its name": at_top('language = "German"'),
        "a region in small letters": at_top('language = "en-us"'),
        "no language after its key": at_top('language = ""'),
        "a number for a language": at_top("language = 1"),
        "one limit without its list": at_top('limits = "None of note."'),
        "a number among the limits": at_top('limits = ["None of note.", 1]'),
        "an empty limit": at_top('limits = [\n  "None of note.",\n  " ",\n]'),
        "a limit of two lines": at_top('limits = ["None\\nof note."]'),
        "a long limit": at_top(f'limits = ["{"x" * 301}"]'),
        "many limits": at_top("limits = [" + '"x",' * 21 + "]"),
        "nouns outside their table": at_top('nouns = ["group", "groups"]'),
        "a noun for something else": nouns('conditon = ["group", "groups"]'),
        "a noun without its plural": nouns('condition = "group"'),
        "three nouns": nouns('condition = ["a", "b", "c"]'),
        "a number for a noun": nouns('condition = ["a", 2]'),
        "an empty plural": nouns('condition = ["group", ""]'),
        "a singular with a space too many": nouns('condition = [" group", "groups"]'),
        "a long noun": nouns(f'condition = ["{"x" * 41}", "xs"]'),
    },
    "who": {
        "a question without the pronoun": (TOML, "'{pronoun}'", "it"),
        "no frames": ("frames.csv", None),
        "a frame without a pronoun": ("frames.csv", "{he}", "he"),
        "an unknown type": ("frames.csv", "type-1", "type1"),
        "an unknown referent": ("frames.csv", "first,The", "third,The"),
        "a frame twice": ("frames.csv", lambda text: text + text.splitlines()[1] + "\n"),
        "an unknown gender": ("occupations.csv", "nurse,female", "nurse,femal"),
        "an occupation twice": ("occupations.csv", "guard,male", "guard,male\nGuard,male"),
        "a share of women that is none": (
            "occupations.csv",
            "occupation,gender,percent_women\nguard,male,2O\nnurse,female,90\n",
        ),
        "neither yes nor no": (
            "frames.csv",
            lambda text: text.replace("text", "text,they").replace("fell.", "fell.,maybe"),
        ),
        "no adjective in a setting": ("adjectives.csv", "old,mean", ","),
        "a setting twice": ("adjectives.csv", "old,mean", "old,mean\nold,mean"),
        "no number of pairs": (TOML, "pairs = 2\n", ""),
        "an unknown placement": (TOML, "by-stereotype", "by-sterotype"),
        "a kind that has no question": (TOML, '"ask"', '"fill"'),
        "a slot beside a question": (TOML, "[settings]", '[slot]\nname = "x"\n\n[settings]'),
        "sentence pairs in a language without their grammar": at_top('language = "de"'),
        "an occupation after a": ("frames.csv", "The {first}", "A {first}"),
        "a small letter at the start": ("frames.csv", "The {first}", "the {first}"),
        "an occupation in two spellings": (
            "occupations.csv",
            "guard,male",
            "body guard,male\nbody-guard,male",
        ),
        "an adjective that is none": ("adjectives.csv", "old,mean", '"a,b",mean'),
    },
    "tea-choice": {
        "not TOML": (CHOICE, 'no_answer = "No answer"', "no_answer = No answer"),
        "an unknown key, and one that is missing": (CHOICE, "request =", "requests ="),
        "a request with another place": (CHOICE, "{labels}", "{label}"),
        "a request with a stray brace": (CHOICE, "{labels}", "{labels}}"),
        "an unknown scale": (
            CHOICE,
            '{your_item}?"\nscale = "will"',
            '{your_item}?"\nscale = "well"',
        ),
        "no scales": (CHOICE, '[[scales]]\nid = "will"\ntexts = ["Gladly", "Never"]\n', ""),
        "no stems": (CHOICE, lambda text: text.partition("[[stems]]")[0]),
        "a stem without its item": (CHOICE, "not {item}.", "not."),
        "a stem with an unknown placeholder": (CHOICE, "not {item}.", "not {item} {person}."),
        "a stem with a stray brace": (CHOICE, "not {item}.", "not {item}}."),
        "a stem with a mask": (CHOICE, "not {item}.", "not <mask> {item}."),
        "two stems of one id": (CHOICE, 'id = "say"', 'id = "ask"'),
        "a stem called all": (CHOICE, 'id = "say"', 'id = "all"'),
        "a stem's id that is none": (CHOICE, 'id = "say"', 'id = "Say it"'),
        "an unknown keying": (CHOICE, '"reversed"', '"reverse"'),
        "a code outside 0 to 1": (CHOICE, '"Never"]', '"Never"]\ncodes = [0, 1.5]'),
        "a code that is no number": (CHOICE, '"Never"]', '"Never"]\ncodes = [0, nan]'),
        "more codes than options": (CHOICE, '"Never"]', '"Never"]\ncodes = [0, 0.5, 1]'),
        "codes that are all the same": (CHOICE, '"Never"]', '"Never"]\ncodes = [0.5, 0.5]'),
        "two options that are the same": (CHOICE, '"Gladly", "Never"', '"Never", "never"'),
        "one option": (CHOICE, '"Gladly", "Never"', '"Gladly"'),
        "more options than letters": (
            CHOICE,
            '"Gladly", "Never"',
            ", ".join(f'"{place}"' for place in range(26)),
        ),
        "more options than numbers": (
            CHOICE,
            '"Gladly", "Never"]',
            '"a", "", "", "", "", "", "", "", "", "b"]\nlabels = "numbers"',
        ),
        "unknown labels": (CHOICE, '"Never"]', '"Never"]\nlabels = "number"'),
        "an option with a letter that says nothing": (CHOICE, '"Never"', '""'),
        "options that are no texts": (CHOICE, '["Gladly", "Never"]', "[1, 2]"),
        "an option that is the no-answer option": (CHOICE, '"Never"', '"No answer"'),
        "an option with a place": (CHOICE, '"Never"', '"Never {item}"'),
        "two scales of one id": (
            CHOICE,
            '[[stems]]\nid = "ask"',
            '[[scales]]\nid = "will"\ntexts = ["a", "b"]\n\n[[stems]]\nid = "ask"',
        ),
        "unknown orders": (CHOICE, "\n[[scales]]", 'orders = "both"\n\n[[scales]]'),
        "all orders of too many options": [
            (CHOICE, "\n[[scales]]", 'orders = "all"\n\n[[scales]]'),
            (CHOICE, '"Gladly", "Never"', '"1", "2", "3", "4", "5"'),
        ],
        "a margin that is none": (CHOICE, "\n[[scales]]", "margin = 1\n\n[[scales]]"),
        "an unknown keying of an item": (ITEMS, "out,,", "out,back,"),
        "people where nobody is masked": (CHOICE, lambda text: text + PEOPLE),
        "a text to you without its condition": (ITEMS, "your tea with {someone}", "your tea"),
        "a text to you with a mask": (CONTROLS, "eat your cake", "eat your <mask>"),
        "controls without their floor": (
            CHOICE_CONTROLS,
            "id,text,expected\ncake,eat cake,positive\n",
        ),
        "controls without a choice": lambda folder: (folder / CHOICE).rename(
            folder / CHOICE_CONTROLS
        ),
        "controls that a constant answer passes": [
            OWN_CONTROLS,
            (CHOICE_CONTROLS, "id,text,expected\ncake,eat cake,positive\npie,eat pie,positive\n"),
        ],
        "controls with a mask": [
            OWN_CONTROLS,
            (
                CHOICE_CONTROLS,
                "id,text,expected\ncake,eat cake,positive\n<mask>,drink <mask>,negative\n",
            ),
        ],
        "more than anyone could ask": [
            (ITEMS, "item,text\n" + "".join(f"i{k},eat {k} of {{someone}}\n" for k in range(2000))),
            (
                CONDITIONS,
                "condition,name,group,category,form,verb\n"
                + "".join(f"c{k},C{k},odd,Body,{k},is\n" for k in range(700)),
            ),
        ],
        "a completion without its sentence": (TOML, "blank: {sentence}", "blank"),
        "a completion with a stray brace": (TOML, "blank: {sentence}", "blank: {sentence}}"),
        "a completion without a question": (TOML, "question =", "questions ="),
        "writing about no one": (
            TOML,
            "[controls]",
            '[writing]\nrequest = "Write about {sentence}."\nsomeone = "one who"\n\n[controls]',
        ),
    },
    "tea-people": {
        "two people of one id": (CHOICE, lambda text: text + PEOPLE),
        "an unknown gender": (CHOICE, '"female"', '"femal"'),
        "a person who is asked never": (
            CHOICE,
            'texts = ["woman"]',
            'texts = ["woman"]\nevery = 0',
        ),
        "no texts": (CHOICE, '["woman"]', "[]"),
        "an empty text": (CHOICE, '["woman"]', '["woman", ""]'),
        "a text with a mask": (CHOICE, '["woman"]', '["woman <mask>"]'),
        "a key that is missing": (CHOICE, 'gender = "female"\n', ""),
        "names that do not go in turn": (
            CHOICE,
            '["woman"]',
            '["a", "b"]\n[[people]]\nid = "man"\ngender = "male"\ntexts = ["a", "b", "c"]',
        ),
        "nobody for the mask": (CHOICE, PEOPLE, ""),
    },
    "coreference": {
        "a scale": (CHOICE, STEM + '\n[[scales]]\nid = "two"\ntexts = ["a", "b"]\n'),
        "a second stem": (
            CHOICE,
            STEM + '\n[[stems]]\nid = "again"\ntext = "{item} And who is {pronoun}?"\n',
        ),
        "no pronoun": (CHOICE, STEM.replace("{pronoun}", "it")),
        "a keying": (CHOICE, STEM + 'keyed = "plain"\n'),
        "a completion": [
            (CHOICE, STEM),
            (TOML, lambda text: text + '[completion]\nquestion = "Fill: {sentence}"\n'),
        ],
    },
    "tea-controls": {
        "no table": (TOML, lambda text: text.partition("[controls]")[0]),
        "a strange score": (TOML, '"separation"', '"seperation"'),
        "a floor above 1": (TOML, "floor = 0.9", "floor = 90"),
        "a floor in words": (TOML, "floor = 0.9", 'floor = "high"'),
        "no task": (TOML, 'task = "tell good from bad"\n', ""),
        "an unknown key": (TOML, "floor = 0.9", "floor = 0.9\nroof = 1"),
        "twice the same": (CONTROLS, "bad,drown", "good,drown"),
        "a condition": (CONTROLS, "drown", "talk to {someone}"),
        "an unknown placeholder": (CONTROLS, "drown", "{drown}"),
        "a stray brace": (CONTROLS, "drown", "drown}"),
        "a second mask": (CONTROLS, "drown", "be <mask>"),
        "a strange answer": (CONTROLS, "drown,negative", "drown,bad"),
        "one answer only": (CONTROLS, "drown,negative", "drown,positive"),
        "an unknown column": (CONTROLS, "id,text,expected", "id,text,expected,other"),
        "a condition of that name": (CONDITIONS, "tall,Tall", "control,Tall"),
    },
    "who-controls": {
        "no other": (
            CONTROLS,
            "Ann saw Bob as she came.,she,Ann,Bob",
            "Ann saw Bob as she came.,she,Ann,",
        ),
        "the same twice": (
            CONTROLS,
            "My aunt said <mask> came.,,she,he",
            "My aunt said <mask> came.,,she,She",
        ),
        "a pronoun that is not there": (
            CONTROLS,
            "she came.,she,Ann,Bob",
            "she came.,they,Ann,Bob",
        ),
        "a name that is not there": (CONTROLS, "she came.,she,Ann,Bob", "she came.,she,Anna,Bob"),
        "two masks": (CONTROLS, "My aunt said <mask> came.", "My aunt said <mask> lost <mask>."),
        "a pronoun at a mask": (
            CONTROLS,
            "My aunt said <mask> came.,,",
            "My aunt said <mask> came.,she,",
        ),
        "always the first": (CONTROLS, "Ann saw Bob as he came.,he", "Bob saw Ann as he came.,he"),
        "always she": (
            CONTROLS,
            "My uncle said <mask> came.,,he,she",
            "My niece said <mask> came.,,she,he",
        ),
    },
    "anchor": {
        "an id that is none": (ANCHOR, 'id = "tea"\nversion', 'id = "Tea!"\nversion'),
        "a key that is missing": (ANCHOR, 'country = "Nowhere"\n', ""),
        "an unknown key": (ANCHOR, "country", "contry"),
        "an unknown comparison": (ANCHOR, '"profile"', '"profiles"'),
        "a bound that is true": (ANCHOR, "lowest = 0.0", "lowest = true"),
        "a small design effect": (ANCHOR, "highest = 1.0", "highest = 1.0\ndesign_effect = 0.5"),
        "a design effect without shares": (
            ANCHOR,
            "highest = 1.0",
            "highest = 1.0\ndesign_effect = 1.5",
        ),
        "bounds in reverse": (ANCHOR, "highest = 1.0", "highest = -1"),
        "shares without their bounds": (
            ANCHOR,
            'highest = 1.0\ncompare = "profile"',
            'compare = "difference"',
        ),
        "no instruments": (ANCHOR, '["social-distance"]', "[]"),
        "wordings without shares": (ANCHOR, "limits =", 'wordings = ["scale"]\nlimits ='),
        "texts of its own without shares": (ANCHOR, "limits =", 'own_texts = ["x"]\nlimits ='),
        "a wording without its list": (ANCHOR, "limits =", 'wordings = "scale"\nlimits ='),
        "a name of what is set apart alone": (
            ANCHOR,
            "limits =",
            'set_apart = "cups that are over"\nlimits =',
        ),
        "a long owner": (ANCHOR, "limits =", f'whose = "{"w" * 61}"\nlimits ='),
        "a limit without its list": (ANCHOR, '["It is made up."]', '"made up"'),
        "an item twice": (ANCHOR, 'id = "milk"', 'id = "tea"'),
        "a name twice": (ANCHOR, 'name = "milk"', 'name = "tea"'),
        "a long name": (
            ANCHOR,
            'name = "milk"',
            f'name = "{"m" * 61}"',
        ),
        "an item without its meaning": (ANCHOR, 'meaning = "takes milk"', ""),
        "an unknown column": (VALUES, "item,condition", "item,kondition"),
        "an unknown item": (VALUES, "milk,blind", "mlk,blind"),
        "no item": (VALUES, "milk,blind", ",blind"),
        "an unknown gender": (VALUES, "all,2020", "both,2020"),
        "a year too many": (VALUES, "2020", "20200"),
        "a value above the bounds": (VALUES, "0.5,100", "1.5,100"),
        "a value outside its interval": (VALUES, "0.5,100", "0.7,100"),
        "no number": (VALUES, "0.5,100", "nan,100"),
        "an exponent": (VALUES, "0.5,100", "5e-1,100"),
        "half a person": (VALUES, "0.5,100", "0.5,1.5"),
        "half an interval": (VALUES, "0.4,0.6", "0.4,"),
        "a value twice": (VALUES, "milk,blind,,", "tea,blind,all,2020"),
        "an item without a value": (VALUES, "milk,blind,,,0.25,,,,,\n", ""),
    },
    "tea-controls-in-slot": {
        "an unknown item": (CONTROLS, ",tea,kind", ",coffee,kind"),
        "no form": (CONTROLS, ",tea,kind", ",tea,"),
        "a text and an item": (CONTROLS, ",,tea,kind", ",rest,tea,kind"),
        "neither": (CONTROLS, ",,tea,kind", ",,,kind"),
    },
    "care-seeking": {
        "an unknown table": (TOML, "[writing-controls]", "[writing-control]"),
        "another score": (TOML, 'score = "gender"', 'score = "person"'),
        "a floor above 1": (TOML, "floor = 0.75", "floor = 7"),
        "neither woman nor man": (WRITING, "evening,female", "evening,woman"),
        "a mask": (WRITING, "man-boat,a man", "man-boat,<mask>"),
        "a condition": (WRITING, "a woman who plays", "a {diagnosis} who plays"),
        "a control twice": (WRITING, "man-boat", "woman-piano"),
        "a paraphrase that lacks an item": ("paraphrases.csv", re.compile("second,has,.*\n"), ""),
        "a paraphrase without its baseline": (
            "paraphrases.csv",
            "{diagnosis},<mask> has got it",
            "{diagnosis},",
        ),
        "a paraphrase of an unknown item": ("paraphrases.csv", "second,has,", "second,hast,"),
        "texts of paraphrases without their names": ("paraphrases.toml", None),
    },
    "social-distance": {
        "a paraphrase with the id of a wording": ("paraphrases.toml", 'id = "find"', 'id = "say"'),
        "a paraphrase named as all of them": (
            "paraphrases.toml",
            'id = "extent"',
            'id = "paraphrases"',
        ),
        "a paraphrase without the item": (
            "paraphrases.toml",
            "I find it <mask> to {item}",
            "I find it <mask>",
        ),
        "a paraphrase without the mask": (
            "paraphrases.toml",
            "find it <mask> to",
            "find it nice to",
        ),
        "an identity without a place": ("cross.toml", '[texts]\n"someone" = "a person"\n'),
        "an identity with two": ("cross.toml", '[texts]\n"someone" = "{attribute} {predicate}"\n'),
        "an identity that is a number": ("cross.toml", '[texts]\n"someone" = 1\n'),
    },
    "vignettes": {
        "an unknown place": (CONDITIONS, "{name} is a", "{nam} is a"),
        "an item that no stem asks": (ITEMS, "work,stigma,willing", "work,stigma,wiling"),
        "a stem without the description": (
            CHOICE,
            'text = "{vignette} How willing',
            'text = "How willing',
        ),
        "a person without a gender": (CHOICE, 'gender = "female"', 'gender = "unstated"'),
        "unknown orders for servers": (CHOICE, 'wording = "scale"', 'orders = "three"'),
        "an unknown wording for servers": (CHOICE, 'wording = "scale"', 'wording = "scales"'),
        "an unknown condition in brief": (CHOICE, '"daily-troubles-10",', '"daily-troubles-11",'),
        "an unknown dimension": (
            CHOICE,
            'brief_dimension = "stigma"',
            'brief_dimension = "belief"',
        ),
        "a control that no stem asks": (CHOICE_CONTROLS, "warm-soup,willing", "warm-soup,"),
    },
    "decisions": {
        "more items than there are": (CHOICE, "items = 4", "items = 25"),
        "a stem without the question": (CHOICE, 'text = "{item} {question}"', 'text = "{item}"'),
        "an unknown keying": (CHOICE_CONTROLS, "ambulance,reversed", "ambulance,backward"),
        "no choices": [(CHOICE, None), (CHOICE_CONTROLS, None)],
    },
    "two-people": {
        "a mention without its place": (CHOICE, 'mention = "', 'mention = "{whom} '),
        "a statement without its question": (CHOICE, "The {who} {question}.", "It is the {who}."),
        "one person alone": (
            CHOICE,
            "I know {first} and {second}. {item}",
            "I know {first}. {item}",
        ),
        "no opposite": (ITEMS, ",is dangerous,is harmless,", ",is dangerous,,"),
        "a control without its person": (CHOICE_CONTROLS, "person who broke a window,", ","),
        "a kind of model without its list": (TOML, '["qa", "nli"]', '"qa"'),
        "a scale": (
            CHOICE,
            "# Texts that",
            '[[scales]]\nid = "yes"\ntexts = ["Yes", "No"]\n# Texts that',
        ),
    },
    "identities": {
        "no id": ("height.toml", 'id = "height"', ""),
        "two levels of one name": ("height.toml", '"eight-foot"', '"tall"'),
        "a level without a name": ("height.toml", 'name = "tall"', ""),
        "women's names alone": ("height.toml", '"tall"', '"tall"\nfemale = ["Ann"]'),
        "names in one level": ("height.toml", '"tall"', '"tall"\nfemale = ["Ann"]\nmale = ["Tom"]'),
        "one level": ("height.toml", '[[levels]]\nname = "tall"\n', ""),
    },
    "personas": {
        "an empty file": ("mine.toml", ""),
        "no text": ("mine.toml", 'text = "You are a guard."', ""),
        "an id that is none": ("mine.toml", '"guard"', '"A b"'),
        "an empty text": ("mine.toml", '"You are a guard."', '" "'),
        "a long text": ("mine.toml", "a guard.", "x" * 5000),
        "an unknown key": ("mine.toml", 'id = "guard"', 'id = "guard"\nname = "y"'),
        "an id twice": ("mine.toml", '"nurse"', '"guard"'),
        "not TOML": ("mine.toml", "[[personas"),
    },
    "ratings": {
        "an empty file": ("mine.csv", ""),
        "no rows": ("mine.csv", "word,label\n"),
        "an unknown column": ("mine.csv", "label", "lable"),
        "unknown labels": ("mine.csv", "word,label\nhard,negativ\neasy,good\n,neutral\n"),
        "a word twice": (
            "mine.csv",
            "word,item,label\nhard,,negative\nHARD,,negative\nhard,neighbor,neutral\n",
        ),
        "a cell too few": ("mine.csv", "hard,negative", "hard"),
        "a space too many": ("mine.csv", "hard", " hard"),
        "another file": lambda folder: (folder / "mine.csv").rename(folder / "mien.csv"),
        "too many bytes": lambda folder: os.truncate(folder / "mine.csv", 2**24 + 1),
    },
    "gender-words": {
        "every fault of a row": (
            "own.csv",
            "word,group,kind,count,percent,common_word\nshe,Female,pronoun,,,\nhe,male,pronuon,,,\n"
            "Mary,female,name,many,101,yes\nMARY,male,name,1,99,false\n,male,noun,,,\n"
            " man,male,noun,,,\nboy,,noun,,,\ngirl,female\n",
        ),
        "an unknown column": ("own.csv", "group", "gender"),
        "no rows": ("own.csv", "word,group,kind\n"),
        "no share": ("own.csv", "word,group,kind,percent\nMary,female,name,nan\n"),
        "a word twice": ("own.csv", "word,group,kind\nshe,female,pronoun\nShe,female,noun\n"),
        "another file": lambda folder: (folder / "own.csv").rename(folder / "owm.csv"),
        "too many bytes": lambda folder: os.truncate(folder / "own.csv", 2**24 + 1),
    },
    "rules": {
        "no rules": (RULES, ""),
        "one bracket": (RULES, "[[rules]]", "[rules]"),
        "an unknown table": (RULES, lambda text: f"[[rule]]\nname = 'gap'\n{text}"),
        "an unknown key": (RULES, "limit", "limt"),
        "no name": (RULES, 'name = "gap"\n', ""),
        "a limit in quotes": (RULES, "1", "'1'"),
        "a limit that is true": (RULES, "1", "true"),
        "no number": (RULES, "1", "nan"),
        "a number without end": (RULES, "1", str(10**400)),
        "an unknown bound": (RULES, "1", "1\nbound = 'hihg'"),
        "a bound that is a number": (RULES, "1", "1\nbound = 3"),
        "an unknown verdict": (RULES, "limit = 1", "forbidden-verdicts = ['relevent']"),
        "no verdicts": (RULES, "limit = 1", "allowed-verdicts = []"),
        "a share above 1": (RULES, "limit = 1", "holds-in = 90"),
        "not measurable": (RULES, "limit = 1", "measurable = false"),
        "measurable where no controls are": (RULES, "limit = 1", "measurable = true"),
        "nothing tested": (RULES, "limit = 1", ""),
        "a bound of no number": (
            RULES,
            "limit = 1",
            "bound = 'low'\nforbidden-verdicts = 'present'",
        ),
        "a bound twice": (RULES, '"gap"', "\"gap.p\"\nbound = 'low'"),
        "a limit that nothing meets": (RULES, "1", "1\nat-least = 2"),
        "two lists of verdicts": (
            RULES,
            "limit = 1",
            "forbidden-verdicts = 'present'\nallowed-verdicts = 'negligible'",
        ),
        "a comparison in the name": (RULES, '"gap"', "'gap > 3'"),
        "a name that is a number": (RULES, '"gap"', "3"),
        "a verdict of a bound": (
            RULES,
            lambda _: "[[rules]]\nname = 'gap.low'\nforbidden-verdicts = 'present'",
        ),
        "not TOML": (RULES, "[[rules]]", "[[rules]"),
        "several": (
            RULES,
            lambda text: text.replace("limit", "limt") + text.replace("1", "'x'\nholds-in = 2"),
        ),
    },
    "published-vignettes": {
        "no JSON": (LINES, "{"),
        "no object": (LINES, "[1]"),
        "an unknown condition": (LINES, '"depression"', '"depresion"'),
        "an unknown gender": (LINES, '"woman"', '"they"'),
        "an unknown question": (
            LINES,
            '"question_only": "How willing',
            '"question_only": "How tall',
        ),
        "two questions": (LINES, '"question_only": "', '"question_only": "To marry, or: '),
        "no prompt": (LINES, '"prompt"', '"prompts"'),
        "a long prompt": (LINES, '"prompt": "', '"prompt": "' + "x" * 20_001),
        "no options": (LINES, re.compile(r'"options": \[.*?\]'), '"options": "yes"'),
        "an unknown option": (LINES, '["Definitely unwilling"', '["Maybe"'),
        "an option that is not shown": (LINES, "- (A)", "-"),
        "one option": (LINES, re.compile(r'"options": \[.*?\]'), '"options": ["Do not know"]'),
        "twenty of many": (LINES, "no\n" * 500),
        "the same line twice": (LINES, lambda text: text * 2),
        "an empty file": (LINES, ""),
        "no file": (LINES, None),
    },
    "published-questions": {
        "an unknown style": (QUESTIONS, ",doubt,", ",funny,"),
        "a base that names a stigma": (QUESTIONS, ",doubt,", ",base,"),
        "no stigma": (QUESTIONS, "Homeless,", ","),
        "neither yes nor no": (QUESTIONS, "doubt,no", "doubt,maybe"),
        "no request for yes or no": (QUESTIONS, "Now yes or no?", "What now?"),
        "no prompt": (QUESTIONS, "They sleep outside. Now yes or no?", ""),
        "an unknown stigma": (QUESTIONS, "Homeless", "Zebra"),
        "a cell too few": (QUESTIONS, "doubt,no", "doubt"),
        "a column too few": (QUESTIONS, "prompt style,biased answer", "prompt style"),
        "no first question": (QUESTIONS, "base,no", "original,no"),
        "no rows": (QUESTIONS, lambda text: text.splitlines()[0] + "\n"),
    },
}


@pytest.fixture(scope="module")
def approved(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """The approved messages by what is broken, to which new ones are added to be approved."""
    renew = request.config.getoption("--renew-golden")
    blocks = [] if renew else APPROVED.read_text(encoding="utf-8").split("\n# ")[1:]
    messages = dict(block.rstrip("\n").split("\n", 1) for block in blocks)
    yield messages
    if renew:
        text = "".join(f"\n# {what}\n{said}\n" for what, said in messages.items())
        APPROVED.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("base", BROKEN)
def test_what_is_broken_below_is_sound(base: str, tmp_path: Path) -> None:
    READERS.get(base, load_instrument)(sound(base, tmp_path))


@pytest.mark.parametrize(
    ("base", "what"), [(base, what) for base, changes in BROKEN.items() for what in changes]
)
def test_every_fault_is_said_with_its_file_and_line(
    base: str,
    what: str,
    tmp_path: Path,
    approved: dict[str, str],
    request: pytest.FixtureRequest,
) -> None:
    folder = sound(base, tmp_path)
    broken(folder, BROKEN[base][what])
    with pytest.raises(InputError) as refusal:
        READERS.get(base, load_instrument)(folder)
    said = str(refusal.value).replace(str(folder), "DIR").replace("\0", "NUL")
    if request.config.getoption("--renew-golden"):
        approved[f"{base}: {what}"] = said
    assert said == approved[f"{base}: {what}"]
