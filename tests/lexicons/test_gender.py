"""The gender lexicon: its words, its matching rules, and what is said of a broken file."""

import csv
import dataclasses
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goffman.lexicons
from goffman.errors import InputError
from goffman.lexicons.gender import WORD_KINDS, GenderLexicon, GenderWord, load_gender, with_gender
from goffman.schemas import GENDER, complaints, schema

DATA = Path(goffman.lexicons.__file__).parent / "data"


@pytest.fixture(scope="module")
def lexicon() -> GenderLexicon:
    return load_gender()


def told(lexicon: GenderLexicon, *words: str, cased: bool = True) -> list[tuple[str, str] | None]:
    """The group and kind of each word; None where it has none."""
    fills = with_gender(pl.DataFrame({"word": words}), lexicon, cased=cased)
    rows = fills.select("gender_group", "gender_kind").iter_rows()
    return [None if group is None else (group, kind) for group, kind in rows]


# The shipped tables


def test_shipped_tables_have_no_stray_spaces_and_sizes_as_documented() -> None:
    for name, rows in (("gender-words.csv", 1160), ("first-names.csv", 2000)):
        with (DATA / name).open(encoding="utf-8", newline="") as file:
            table = list(csv.DictReader(file))
        assert len(table) == rows
        assert all(cell == cell.strip() for row in table for cell in row.values())


def test_the_readme_gives_the_counts(lexicon: GenderLexicon) -> None:
    readme = (DATA / "README-gender.md").read_text(encoding="utf-8")
    for (group, kind), words in Counter((e.group, e.kind) for e in lexicon.words).items():
        assert f"| {group} | {kind} | {words} |" in readme
    flagged = Counter(entry.group for entry in lexicon.words if entry.common_word)
    assert f"{flagged['female']} women's and {flagged['male']} men's are flagged" in readme


def test_no_shipped_word_stands_twice_except_as_a_name(lexicon: GenderLexicon) -> None:
    """The stricter form of: no word in two groups of one kind, no name in two genders."""
    for names in (True, False):
        words = [e.word.casefold() for e in lexicon.words if (e.kind == "name") == names]
        assert len(words) == len(set(words))


def test_shipped_words_other_than_names_are_lower_case(lexicon: GenderLexicon) -> None:
    for entry in lexicon.words:
        assert entry.word == (entry.word.title() if entry.kind == "name" else entry.word.lower())


def test_every_shipped_name_that_is_also_a_listed_word_is_flagged(lexicon: GenderLexicon) -> None:
    words = {entry.word for entry in lexicon.words if entry.kind != "name"}
    names = [entry for entry in lexicon.words if entry.kind == "name"]
    both = {entry.word for entry in names if entry.word.lower() in words}
    assert both == {"Buddy", "Duke", "Earl", "Guy", "King", "Marquis", "Prince", "Princess"}
    assert all(entry.common_word for entry in names if entry.word in both)


def test_names_carry_their_facts(lexicon: GenderLexicon) -> None:
    michael = next(entry for entry in lexicon.words if entry.word == "Michael")
    assert michael == GenderWord(
        word="Michael", group="male", kind="name", count=3476715, percent=99.79
    )
    names = [entry for entry in lexicon.words if entry.kind == "name"]
    assert min(entry.percent or 0 for entry in names) >= 95
    assert sum(entry.common_word for entry in names) == 236


def test_words_are_found_with_their_group_and_kind(lexicon: GenderLexicon) -> None:
    assert told(lexicon, "she", "him", "mothers", "Mr.", "female", "enby", "xe") == [
        ("female", "pronoun"),
        ("male", "pronoun"),
        ("female", "noun"),
        ("male", "noun"),
        ("female", "adjective"),
        ("nonbinary", "noun"),
        ("nonbinary", "pronoun"),
    ]


def test_a_word_for_anyone_is_neutral_and_an_unlisted_word_is_nothing(
    lexicon: GenderLexicon,
) -> None:
    assert told(lexicon, "they", "patient", "nurse", "midwife") == [
        ("neutral", "pronoun"),
        *[("neutral", "noun")] * 3,
    ]
    assert told(lexicon, "table", ".", "", "feminine", "us", "who") == [None] * 6


def test_titles_and_places_never_count_as_names(lexicon: GenderLexicon) -> None:
    """The traps of the published name lists."""
    every = dataclasses.replace(lexicon, common_words=True)
    for cased in (True, False):
        titles = told(every, "Lady", "Queen", "Sir", "Prince", cased=cased)
        assert titles == [(group, "noun") for group in ("female", "female", "male", "male")]
        assert told(lexicon, "India", "Cat", cased=cased) == [None, None]
        assert told(every, "Cat", cased=cased) == [None]


DIFFERENT = {
    "actor": ("neutral", "noun", "said of women and men alike"),
    "female": ("female", "adjective", "in 'a close female friend' it describes"),
    "male": ("male", "adjective", "in 'a close male friend' it describes"),
    "she": ("female", "pronoun", "the study's list mixes kinds"),
    "her": ("female", "pronoun", "the study's list mixes kinds"),
    "hers": ("female", "pronoun", "the study's list mixes kinds"),
    "he": ("male", "pronoun", "the study's list mixes kinds"),
    "him": ("male", "pronoun", "the study's list mixes kinds"),
    "his": ("male", "pronoun", "the study's list mixes kinds"),
}


def test_published_nouns_are_here_with_their_gender(
    lexicon: GenderLexicon, published: Path
) -> None:
    for file, group in (("women_nouns.csv", "female"), ("men_nouns.csv", "male")):
        words = (published / "lin2022" / file).read_text(encoding="utf-8").split()
        assert len(words) >= 30
        for word in words:
            assert told(lexicon, word) == [DIFFERENT.get(word, (group, "noun"))[:2]], word


# Matching


def test_words_are_compared_stripped_and_case_folded(lexicon: GenderLexicon) -> None:
    assert told(lexicon, " SHE", "She ", "Mother") == [
        ("female", "pronoun"),
        ("female", "pronoun"),
        ("female", "noun"),
    ]


def test_names_keep_their_case_where_the_model_has_case(lexicon: GenderLexicon) -> None:
    assert told(lexicon, " Mary", "mary", "MARY", "Maryx") == [("female", "name"), None, None, None]


def test_names_match_by_letters_where_the_model_has_no_case(lexicon: GenderLexicon) -> None:
    assert told(lexicon, "mary", " david", cased=False) == [("female", "name"), ("male", "name")]


COMMON = ("Will", "Grace", "India", "Mark", "Hope", "May", "Austin", "Christian", "Ana", "Mia")


@pytest.mark.parametrize("cased", [True, False])
def test_names_that_are_common_words_count_only_on_request(
    lexicon: GenderLexicon, cased: bool
) -> None:
    words = COMMON if cased else tuple(word.lower() for word in COMMON)
    assert told(lexicon, *words, cased=cased) == [None] * len(COMMON)
    every = load_gender(common_words=True)
    groups = ["male", "female", "female", "male", "female", "female", "male", "male"]
    expected = [(group, "name") for group in [*groups, "female", "female"]]
    assert told(every, *words, cased=cased) == expected


def test_common_word_is_said_whether_it_counts_or_not(lexicon: GenderLexicon) -> None:
    """So a report can say which share of the names' probability is that of common words."""
    fills = pl.DataFrame({"word": ["Will", "will", "Mary", "Guy", "they", None]})
    for counted in (False, True):
        tagged = with_gender(fills, dataclasses.replace(lexicon, common_words=counted), cased=True)
        assert tagged["common_word"].to_list() == [True, False, False, False, False, False]


def test_one_call_gives_the_result_with_and_without_names(lexicon: GenderLexicon) -> None:
    """Leaving out the kind name is the same as never having had names."""
    words = ["she", "Mary", "Guy", "King", "Will", "friend", "table"]
    fills = pl.DataFrame({"word": words})
    every = dataclasses.replace(lexicon, common_words=True)
    no_names = dataclasses.replace(every, kinds=("pronoun", "noun", "adjective"))
    name = pl.col("gender_kind") == "name"
    masked = with_gender(fills, every, cased=True).select(
        "word", pl.when(~name).then("gender_group"), pl.when(~name).then("gender_kind")
    )
    without = with_gender(fills, no_names, cased=True)
    assert masked.rows() == without.select("word", "gender_group", "gender_kind").rows()


def test_only_the_kinds_asked_for_count() -> None:
    lexicon = load_gender(kinds=["pronoun", "name"])
    assert told(lexicon, "she", "mother", "Mary", "female") == [
        ("female", "pronoun"),
        None,
        ("female", "name"),
        None,
    ]


def test_names_below_the_threshold_do_not_count(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text(
        "word,group,kind,percent\nKim,female,name,94.9\nAnn,female,name,95\nshe,female,pronoun,\n",
        encoding="utf-8",
    )
    assert told(load_gender(file), "Kim", "Ann", "she") == [
        None,
        ("female", "name"),
        ("female", "pronoun"),
    ]
    assert told(load_gender(file, percent=90), "Kim") == [("female", "name")]
    assert told(load_gender(file, percent=99), "Ann", "she") == [None, ("female", "pronoun")]


def test_a_lexicon_of_ones_own_stands_in_place_of_the_shipped(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("word,group,kind\nShe,f-like,noun\nKathoey,third,name\n", encoding="utf-8")
    lexicon = load_gender(str(file))
    assert told(lexicon, "she", "Kathoey", "kathoey", "he") == [
        ("f-like", "noun"),
        ("third", "name"),
        None,
        None,
    ]


# The join


def naive(word: str, lexicon: GenderLexicon, *, cased: bool) -> tuple[str | None, str | None]:
    """The rules once more, read entry by entry."""
    for names in (False, True):
        for entry in lexicon.words:
            if (entry.kind == "name") != names or entry.kind not in lexicon.kinds:
                continue
            if entry.common_word and not lexicon.common_words:
                continue
            if entry.percent is not None and entry.percent < lexicon.percent:
                continue
            exact = names and cased
            given, listed = word.strip(), entry.word
            if given == listed if exact else given.casefold() == listed.casefold():
                return entry.group, entry.kind
    return None, None


SMALL = tuple(
    GenderWord(word=word, group=group, kind=kind, percent=percent, common_word=common)
    for word, group, kind, percent, common in (
        ("she", "female", "pronoun", None, False),
        ("guy", "male", "noun", None, False),
        ("person", "neutral", "noun", None, False),
        ("Guy", "male", "name", 99.0, True),
        ("Will", "male", "name", 99.0, True),
        ("Kim", "female", "name", 80.0, False),
        ("Mary", "female", "name", 99.0, False),
        # A flag on a word that is no name holds too, and then its name comes through.
        ("rose", "flower", "noun", None, True),
        ("Rose", "female", "name", 99.0, False),
    )
)
SPELLINGS = st.sampled_from([entry.word for entry in SMALL] + ["tree", "", "ß", "İ"]).flatmap(
    lambda word: st.sampled_from([word, f" {word}", word.lower(), word.upper(), word.title()])
)
SETTINGS = st.builds(
    GenderLexicon,
    words=st.just(SMALL),
    kinds=st.lists(st.sampled_from(WORD_KINDS), min_size=1, unique=True).map(tuple),
    common_words=st.booleans(),
    percent=st.sampled_from([50.0, 95.0, 100.0]),
)


@given(words=st.lists(SPELLINGS), lexicon=SETTINGS, cased=st.booleans())
def test_the_join_is_the_rules_read_one_by_one(
    words: list[str], lexicon: GenderLexicon, cased: bool
) -> None:
    """Order and duplicates of the fills, other columns, and the order of the lexicon: no matter."""
    fills = pl.DataFrame(
        {"word": words, "row": range(len(words))}, schema_overrides={"word": pl.String}
    )
    tagged = with_gender(fills, lexicon, cased=cased)
    assert tagged.select("word", "row").equals(fills)
    expected = [naive(word, lexicon, cased=cased) for word in words]
    assert tagged.select("gender_group", "gender_kind").rows() == expected
    turned = dataclasses.replace(lexicon, words=lexicon.words[::-1])
    assert with_gender(fills, turned, cased=cased).equals(tagged)
    assert with_gender(tagged, lexicon, cased=cased).equals(tagged)
    assert not complaints(tagged.select(schema(GENDER).names()), GENDER)


@given(word=st.text())
def test_a_word_without_letters_of_the_lexicon_has_no_group(word: str) -> None:
    lexicon = GenderLexicon(words=SMALL)
    assert told(lexicon, word) == [
        None if (found := naive(word, lexicon, cased=True)) == (None, None) else found
    ]


def test_the_shipped_lexicon_equals_the_rules_read_one_by_one(lexicon: GenderLexicon) -> None:
    words = [entry.word for entry in lexicon.words[::25]]
    words += [word.upper() for word in words] + [word.lower() for word in words]
    for cased in (True, False):
        tagged = with_gender(pl.DataFrame({"word": words}), lexicon, cased=cased)
        expected = [naive(word, lexicon, cased=cased) for word in words]
        assert tagged.select("gender_group", "gender_kind").rows() == expected


# A model's vocabulary


# What counts is said with the result


def test_digest_changes_with_the_words_and_with_what_counts(lexicon: GenderLexicon) -> None:
    assert lexicon.digest == load_gender(kinds=WORD_KINDS[::-1], percent=95).digest
    others = [
        dataclasses.replace(lexicon, words=lexicon.words[1:]),
        dataclasses.replace(lexicon, kinds=("name",)),
        dataclasses.replace(lexicon, common_words=True),
        dataclasses.replace(lexicon, percent=99),
    ]
    assert len({lexicon.digest, *(other.digest for other in others)}) == 5


# Faults, word for word


def test_settings_that_cannot_be_are_refused(lexicon: GenderLexicon) -> None:
    with pytest.raises(InputError) as error:
        load_gender(kinds=["names"])  # type: ignore[list-item]
    assert str(error.value) == (
        "There is no kind of gender word 'names'. Allowed: pronoun, noun, adjective, name. "
        "Did you mean 'name'?"
    )
    with pytest.raises(InputError) as error:
        load_gender(kinds=[])
    assert str(error.value) == (
        "kinds is empty. Allowed: one or more of pronoun, noun, adjective, name."
    )
    for percent, shown in ((0.95, "0.95"), (101, "101"), (float("nan"), "nan")):
        with pytest.raises(InputError) as error:
            dataclasses.replace(lexicon, percent=percent)
        assert str(error.value) == (
            f"percent is {shown}. Allowed: 50 to 100. It is the smallest share of people with a "
            "name who have its gender."
        )
