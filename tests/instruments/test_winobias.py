"""WinoBias's files in both markings: what is read, refused, reported and left out."""

import contextlib
import os
import re
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goffman.errors import InputError, SentenceError
from goffman.instruments.loader import load_instrument
from goffman.instruments.renderer import PromptOptions, render
from goffman.instruments.winobias import Reading, read_winobias

OCCUPATIONS = load_instrument("coreference").content.occupations


def write(folder: Path, pro: str, anti: str, name: str = "type1.txt.test") -> Path:
    (folder / f"pro_stereotyped_{name}").write_text(pro, encoding="utf-8")
    (folder / f"anti_stereotyped_{name}").write_text(anti, encoding="utf-8")
    return folder / f"pro_stereotyped_{name}"


def read(folder: Path, pro: str, anti: str, *, drop_faulty: bool = False) -> Reading:
    return read_winobias(write(folder, pro, anti), OCCUPATIONS, drop_faulty=drop_faulty)


PRO = "[The guard] thanked the nurse because [he] was glad.\n"
ANTI = "[The guard] thanked the nurse because [she] was glad.\n"


@pytest.mark.parametrize(
    ("pro", "anti"),
    [
        (PRO, ANTI),
        ("1 " + PRO, "1 " + ANTI),
        (PRO.replace("the nurse", "(the nurse)"), ANTI.replace("the nurse", "(the nurse)")),
        (PRO.strip(), ANTI.strip()),
        (PRO.replace("[The guard]", "The [guard]"), ANTI),
        (PRO.replace(" [he] ", "  [he]  "), ANTI),
        (PRO.replace("[The guard]", "The [ guard]"), ANTI),
        (PRO.replace("[The guard]", "[ The guard ]").replace("[he]", "[ he ]"), ANTI),
        (PRO.replace("the nurse", "the( nurse )"), ANTI.replace("the nurse", "(the nurse)")),
        (PRO.replace("[The guard] ", "The [ guard ]"), ANTI),
    ],
    ids=[
        "original",
        "numbered",
        "parentheses",
        "no last newline",
        "article outside",
        "spaces",
        "a space after the bracket",
        "spaces inside every mark",
        "a space inside instead of before",
        "a space inside instead of after",
    ],
)
def test_every_marking_gives_the_same_pair(tmp_path: Path, pro: str, anti: str) -> None:
    (pair,) = read(tmp_path, pro, anti).pairs
    assert pair.id == "winobias-type1-test/1"
    assert (pair.referent, pair.other, pair.stereotype) == ("guard", "nurse", "male")
    assert pair.pro.text == "The guard thanked the nurse because he was glad."
    assert pair.anti.text == "The guard thanked the nurse because she was glad."
    assert (pair.pro.pronoun, pair.anti.pronoun) == ("he", "she")
    assert pair.pro.text[pair.pro.referent_at[0] :].startswith("guard")
    assert pair.pro.text[pair.pro.other_at[0] :].startswith("nurse")


def test_possessives_and_doubled_articles_are_read(tmp_path: Path) -> None:
    pro = "The nurse raised the [the guard 's] pay and [he] smiled."
    (pair,) = read(tmp_path, pro, pro.replace("[he]", "[she]")).pairs
    assert pair.pro.text == "The nurse raised the guard's pay and he smiled."
    assert pair.referent == "guard"


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [("cachier", "cashier"), ("desinger", "designer"), ("designar", "designer")],
)
def test_misspelt_occupations_of_the_published_files_are_known(
    tmp_path: Path, spelled: str, meant: str
) -> None:
    (pair,) = read(tmp_path, PRO.replace("nurse", spelled), ANTI.replace("nurse", spelled)).pairs
    assert pair.other == meant
    assert spelled in pair.pro.text


def test_a_mark_may_cut_a_pronoun_in_two(tmp_path: Path) -> None:
    pro = "[The guard] told the nurse that [he] saw [him]self."
    anti = "[The guard] told the nurse that [she] saw [her]self."
    reading = read(tmp_path, pro, anti)
    assert not reading.remarks
    assert (reading.pairs[0].pro.pronoun, reading.pairs[0].anti.pronoun) == ("himself", "herself")


def test_a_pronoun_with_an_apostrophe_is_no_other_difference(tmp_path: Path) -> None:
    pro = "[The guard] thanked the nurse because [he] 's glad."
    assert not read(tmp_path, pro, pro.replace("[he]", "[she]")).remarks


def test_the_question_asks_about_the_last_of_two_pronouns(tmp_path: Path) -> None:
    pro = "[The guard] called the nurse because [he] broke [his] leg."
    (pair,) = read(tmp_path, pro, pro.replace("[he]", "[she]").replace("[his]", "[her]")).pairs
    assert (pair.pro.pronoun, pair.anti.pronoun, pair.pro.pronouns) == ("his", "her", 2)


def refusal(folder: Path, pro: str, anti: str, *, drop_faulty: bool = False) -> str:
    with pytest.raises(SentenceError) as caught:
        read(folder, pro, anti, drop_faulty=drop_faulty)
    return str(caught.value).replace(str(folder), "DIR")


def test_unequal_counts_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, PRO + PRO, ANTI) == (
        "pro_stereotyped_type1.txt.test has 2 lines, but anti_stereotyped_type1.txt.test has "
        "1. Both need the same number: each line is paired with the same line of the other "
        "file."
    )


@pytest.mark.parametrize(
    ("anti", "complaint"),
    [
        (
            "The guard thanked [the nurse] because [she] was glad.",
            "the referents differ: 'guard' in pro, 'nurse' in anti.",
        ),
        (ANTI.replace("[The guard]", "The guard"), "no referent is marked with [ ] in anti."),
        (ANTI.replace("[she]", "she"), "no pronoun is marked with [ ] in anti."),
        (ANTI.replace("the nurse", "a friend"), "there is no second occupation in anti."),
        (
            ANTI.replace("guard", "gard"),
            "'gard' in anti is not an occupation of the instrument. Did you mean 'guard'?",
        ),
    ],
)
def test_pairs_that_cannot_be_asked_are_refused_by_line(
    tmp_path: Path, anti: str, complaint: str
) -> None:
    assert refusal(tmp_path, PRO + PRO, ANTI + anti) == (
        "DIR/pro_stereotyped_type1.txt.test has lines that cannot be used:\n  "
        f"pro_stereotyped_type1.txt.test, line 2: {complaint}\nCorrect them, or leave them out "
        "with --set coreference.drop-faulty=yes."
    )


def test_faulty_pairs_are_kept_with_a_remark_or_left_out_on_request(tmp_path: Path) -> None:
    pro = PRO * 20
    anti = ANTI * 18 + PRO + ANTI.replace("glad", "happy")
    kept = read(tmp_path, pro, anti)
    assert len(kept.pairs) == 20
    assert [str(fault) for _, fault in kept.remarks] == [
        "pro_stereotyped_type1.txt.test, line 19: pro and anti do not differ.",
        "pro_stereotyped_type1.txt.test, line 20: pro and anti differ in more than the pronoun.",
    ]
    dropped = read(tmp_path, pro, anti, drop_faulty=True)
    assert len(dropped.pairs) == 18
    assert dropped.left_out == tuple(fault for _, fault in kept.remarks)
    assert not dropped.remarks


def test_files_shifted_by_a_line_are_refused_even_with_the_switch(tmp_path: Path) -> None:
    other = "The guard met [the nurse] because [she] was late.\n"
    pro = (PRO + other) * 10
    anti = other.replace("she", "he") + (ANTI + other.replace("she", "he")) * 9 + ANTI
    assert refusal(tmp_path, pro, anti, drop_faulty=True) == (
        "20 of the 20 pairs in DIR/pro_stereotyped_type1.txt.test are faulty, which is too "
        "many to leave out. Do the pro and anti files belong together?"
    )


def test_a_missing_counterpart_and_a_wrong_path_are_said(tmp_path: Path) -> None:
    path = write(tmp_path, PRO, ANTI)
    (tmp_path / "anti_stereotyped_type1.txt.test").unlink()
    with pytest.raises(SentenceError, match=r"anti_stereotyped_type1\.txt\.test is missing"):
        read_winobias(path, OCCUPATIONS)
    with pytest.raises(SentenceError, match=r"nowhere was not found\. Give a folder with WinoBias"):
        read_winobias(tmp_path / "nowhere", OCCUPATIONS)
    with pytest.raises(SentenceError, match="has no WinoBias files, such as pro_stereotyped"):
        read_winobias(tmp_path.parent, OCCUPATIONS)


@pytest.mark.parametrize(
    ("pro", "anti", "complaint"),
    [
        (PRO, ANTI.replace("glad.", "glad!"), "pro and anti differ in more than the pronoun."),
        (
            PRO.replace("was glad", "lost [his] cap"),
            ANTI.replace("was glad", "lost [his] cap"),
            "the pronouns asked about are of one gender: 'his' in pro and 'his' in anti.",
        ),
        (
            "The nurse met [the guard] and thanked [him] for [his] help.\n",
            "The nurse met [the guard] and thanked [him] for [her] help.\n",
            "the pronouns in anti are of two genders: 'him', 'her'.",
        ),
        (
            "The nurse met [the guard] and thanked [her] for [his] help.\n",
            "The nurse met [the guard] and thanked [him] for [her] help.\n",
            "the pronouns in pro are of two genders: 'her', 'his'.",
        ),
        (
            "[The guard] told the nurse that [he] lost her [his] cap.\n",
            "[The guard] told the nurse that [she] lost his [her] cap.\n",
            "the pronouns in pro are of two genders: 'he', 'her', 'his'.",
        ),
        (
            "The nurse met [the guard] and demanded [his] pay.\n",
            "The nurse met [the guard] and demanded [she] pay.\n",
            "the pronouns differ in more than gender: 'his' in pro, 'she' in anti.",
        ),
        (
            "[The guard] said that [he] lost [his] cap.\n".replace("said", "told the nurse"),
            "[The guard] said that [she] lost her cap.\n".replace("said", "told the nurse"),
            "the pronouns asked about are in different places: 'his' in pro and 'she' in anti.",
        ),
        (ANTI, PRO, "'she' for the guard is in the pro file, against the stereotype."),
        (
            PRO.replace("nurse", "guard"),
            ANTI.replace("nurse", "guard"),
            "both occupations are male: 'guard' and 'guard'.",
        ),
    ],
)
def test_every_kind_of_faulty_pair_is_told_and_can_be_left_out(
    tmp_path: Path, pro: str, anti: str, complaint: str
) -> None:
    kept = read(tmp_path, PRO * 3 + pro, ANTI * 3 + anti)
    assert len(kept.pairs) == 4
    assert [fault.message for _, fault in kept.remarks] == [complaint]
    assert len(read(tmp_path, PRO * 3 + pro, ANTI * 3 + anti, drop_faulty=True).pairs) == 3


def test_a_third_occupation_is_told_and_the_one_of_the_other_gender_is_taken(
    tmp_path: Path,
) -> None:
    pro = "The cook told [the guard] that the nurse and the baker like [him]."
    (pair,) = read(tmp_path, pro, pro.replace("[him]", "[her]")).pairs
    assert pair.other == "nurse"
    messages = [
        fault.message for _, fault in read(tmp_path, pro, pro.replace("[him]", "[her]")).remarks
    ]
    assert messages == [
        f"the other occupation in {side} may be 'nurse', 'baker'; the first is taken."
        for side in ("pro", "anti")
    ]


def test_a_pronoun_that_is_marked_in_one_file_alone_is_told(tmp_path: Path) -> None:
    """The sentences are sound: only a mark is missing, so that the pair is never left out."""
    pro = "The nurse told [the guard] that [he] was late and gave [him] a map.\n"
    anti = "The nurse told [the guard] that she was late and gave [her] a map.\n"
    reading = read(tmp_path, pro, anti, drop_faulty=True)
    assert [fault.message for _, fault in reading.remarks] == [
        "not every pronoun is marked in both files: 2 in pro, 1 in anti."
    ]


@given(junk=st.lists(st.sampled_from([*"[]()x'_-.é ", "[him]", "[HER]", "him", "self", "the "])))
def test_any_line_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, junk: list[str]
) -> None:
    line = f"[The guard] met the nurse and {''.join(junk)} [he] left."
    with contextlib.suppress(SentenceError):
        folder = tmp_path_factory.mktemp("any")
        assert len(read(folder, line, line.replace("[he]", "[she]")).pairs) == 1


@pytest.mark.parametrize("behind", ["x", "()x", "(x)", "[x]", "[]()x"])
def test_a_pronoun_that_goes_on_behind_its_mark_is_none(tmp_path: Path, behind: str) -> None:
    line = f"[The guard] met the nurse and [him]{behind} left."
    assert "no pronoun is marked with [ ] in pro." in refusal(tmp_path, line, line)


def test_case_alone_is_no_difference(tmp_path: Path) -> None:
    assert not read(tmp_path, PRO.replace("guard", "CEO"), ANTI.replace("guard", "ceo")).remarks


def test_an_empty_or_unreadable_file_is_said(tmp_path: Path) -> None:
    assert refusal(tmp_path, "\n", ANTI) == "DIR/pro_stereotyped_type1.txt.test is empty."
    (tmp_path / "pro_stereotyped_type1.txt.test").write_bytes(b"caf\xe9")
    with pytest.raises(SentenceError, match="is not UTF-8 text"):
        read_winobias(tmp_path, OCCUPATIONS)


def test_a_file_of_too_many_bytes_or_lines_or_no_plain_file_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, PRO, ANTI * 5_001)
    assert refusal(tmp_path, PRO, ANTI * 5_001) == (
        "DIR/anti_stereotyped_type1.txt.test has 5,001 lines. Allowed: up to 5,000."
    )
    os.truncate(path, 1024 * 1024 + 1)
    with pytest.raises(InputError) as caught:
        read_winobias(path, OCCUPATIONS)
    assert str(caught.value) == f"{path} has 1,048,577 bytes. Allowed: up to 1,048,576."
    path.unlink()
    os.mkfifo(path)
    for file_or_folder in (path, tmp_path):
        with pytest.raises(InputError) as caught:
            read_winobias(file_or_folder, OCCUPATIONS)
        assert str(caught.value) == f"{path} is a named pipe. Give a regular file."


def test_the_worst_file_within_the_bounds_is_read_in_a_moment(tmp_path: Path) -> None:
    """A second of CPU time each, where time that grows with the square took minutes."""
    for line in ("x" + " " * 1_000_000 + "[he]", "[he]" + "[the x]the " * 90_000):
        start = time.process_time()
        refusal(tmp_path, line, line)
        assert time.process_time() - start < 20


def test_a_draw_depends_on_the_seed_and_keeps_only_its_own_remarks(tmp_path: Path) -> None:
    write(tmp_path, PRO * 30, ANTI * 29 + PRO)
    instrument = load_instrument("coreference")

    def drawn(seed: int) -> tuple[set[str], int]:
        options = PromptOptions(winobias=tmp_path, pairs=15, seed=seed, adjectives=["none"])
        rendered = render(instrument, options)
        return {prompt.item for prompt in rendered.prompts}, len(rendered.remarks)

    draws = [drawn(seed) for seed in range(4)]
    assert len({frozenset(items) for items, _ in draws}) == 4
    for items, remarks in draws:
        assert remarks == ("winobias-type1-test/30" in items)


def test_a_folder_gives_every_set_in_it(tmp_path: Path) -> None:
    write(tmp_path, PRO, ANTI)
    write(tmp_path, PRO, ANTI, "type2.txt.dev")
    pairs = read_winobias(tmp_path, OCCUPATIONS).pairs
    assert [(pair.id, pair.type) for pair in pairs] == [
        ("winobias-type1-test/1", "type-1"),
        ("winobias-type2-dev/1", "type-2"),
    ]


# ── The files as they were published ───────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("winobias/pro_stereotyped_type1.txt.dev", 396),
        ("winobias/pro_stereotyped_type1.txt.test", 396),
        ("briegel2023/wino-data/pro_stereotyped_type1.txt.test", 395),
        ("briegel2023/wino-data/pro_stereotyped_type2.txt.dev", 395),
        ("briegel2023/wino-data/pro_stereotyped_type2.txt.test", 395),
    ],
)
def test_published_sets_are_read(published: Path, path: str, count: int) -> None:
    assert len(read_winobias(published / path, OCCUPATIONS).pairs) == count


def test_the_dev_set_of_the_study_has_three_lines_that_cannot_be_asked(published: Path) -> None:
    path = published / "briegel2023/wino-data/pro_stereotyped_type1.txt.dev"
    with pytest.raises(SentenceError) as caught:
        read_winobias(path, OCCUPATIONS)
    assert re.findall(r"line (\d+)", str(caught.value)) == ["47", "58", "392"]
    assert len(read_winobias(path, OCCUPATIONS, drop_faulty=True).pairs) == 376


def test_faults_of_the_test_set_are_found_by_line(published: Path) -> None:
    path = published / "briegel2023/wino-data/pro_stereotyped_type1.txt.test"
    by_message: dict[str, list[int | None]] = {}
    for _, fault in read_winobias(path, OCCUPATIONS).remarks:
        by_message.setdefault(fault.message, []).append(fault.row)
    assert by_message["pro and anti differ in more than the pronoun."] == [156, 225, 254, 295]
    assert by_message["pro and anti do not differ."] == [72, 132, 216, 226]
    house = "'house' is marked as the other occupation in pro; 'editor' is taken."
    assert by_message[house] == [30]
    asked = "the pronouns asked about are of one gender: 'himself' in pro and 'himself' in anti."
    assert by_message[asked] == [278]
    swapped = [
        row for message, rows in by_message.items() if "stereotype" in message for row in rows
    ]
    assert swapped == [20, 72, 141]
    faulty = {20, 72, 132, 141, 156, 216, 225, 226, 254, 278, 295}
    dropped = read_winobias(path, OCCUPATIONS, drop_faulty=True)
    assert {fault.row for fault in dropped.left_out} == faulty
    assert len(dropped.pairs) == 395 - len(faulty)


@pytest.mark.parametrize(
    ("name", "row", "complaint", "left"),
    [
        ("test", 84, "the pronouns in anti are of two genders: 'him', 'her'.", 386),
        ("dev", 171, "the pronouns differ in more than gender: 'her' in pro, 'he' in anti.", 378),
    ],
)
def test_every_marked_pronoun_of_the_published_files_is_checked(
    published: Path, name: str, row: int, complaint: str, left: int
) -> None:
    path = published / f"briegel2023/wino-data/pro_stereotyped_type2.txt.{name}"
    told = {(fault.row, fault.message) for _, fault in read_winobias(path, OCCUPATIONS).remarks}
    assert (row, complaint) in told
    dropped = read_winobias(path, OCCUPATIONS, drop_faulty=True)
    assert row in {fault.row for fault in dropped.left_out}
    assert len(dropped.pairs) == left


def test_in_56_sentences_the_female_occupation_is_mentioned_first(published: Path) -> None:
    path = published / "briegel2023/wino-data/pro_stereotyped_type1.txt.test"
    pairs = read_winobias(path, OCCUPATIONS).pairs
    referent_first = [pair.pro.referent_at < pair.pro.other_at for pair in pairs]
    female_first = [
        (pair.stereotype == "female") == first
        for pair, first in zip(pairs, referent_first, strict=True)
    ]
    assert sum(female_first) == 56
    assert sum(pair.pro.pronouns == 2 for pair in pairs) == 24
    assert sum(pair.anti.pronouns == 2 for pair in pairs) == 23


def setting_of(name: str) -> str:
    """The adjectives of a published file's name: promp_type1_pro_nothi-blond.txt.test."""
    settings = load_instrument("coreference").content.settings
    by_short = {
        f"{(each.male or 'nothing')[:5]}-{(each.female or 'nothing')[:5]}": each.id
        for each in settings
    }
    return by_short[name]


def words(text: str) -> list[str]:
    """Words and signs, whatever the spaces between them."""
    return re.findall(r"\w+|[^\w\s]", text)


def test_prompts_are_word_for_word_those_of_the_study(published: Path) -> None:
    """All 12,640 of them; where the text differs at all, it differs in its spaces.

    (No marked occupation stands after "a" or "an" in these sentences, so that no article changes.)
    """
    wino_data = published / "briegel2023/wino-data/pro_stereotyped_type1.txt.test"
    options = PromptOptions(winobias=wino_data, placement="by-position")
    prompts = render(load_instrument("coreference"), options).prompts
    ours = {(p.wording, p.condition, int(p.item.split("/")[1])): p.text for p in prompts}
    compared = 0
    in_spaces: Counter[int] = Counter()
    for path in sorted((published / "briegel2023/prompts").iterdir()):
        side, short = re.fullmatch(r"promp_type1_(pro|anti)_(.*)\.txt\.test", path.name).groups()
        condition = "baseline" if short == "base" else setting_of(short)
        for number, theirs in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            assert words(ours[side, condition, number]) == words(theirs)
            compared += 1
            in_spaces[number] += ours[side, condition, number] != theirs
    assert compared == len(ours) == 12_640
    # Every difference: the lines with two spaces, a space before 's, or none after "does".
    assert {line: count for line, count in in_spaces.items() if count} == {
        5: 32,
        128: 32,
        129: 32,
        240: 16,
        253: 32,
        254: 16,
        264: 32,
        265: 32,
        294: 32,
        295: 32,
        300: 32,
        301: 32,
        304: 32,
        305: 32,
    }
