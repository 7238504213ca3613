"""The folder of a study: below the one that is given, or that one itself."""

import os
from pathlib import Path

import pytest

from goffman.errors import InputError, PublishedError
from goffman.replicate.files import LARGEST, MARKS, folder_above, read_csv, read_lines, study_folder
from goffman.replicate.lin2022 import results
from goffman.replicate.rows import Study


@pytest.mark.parametrize("study", Study)
def test_the_folder_above_or_the_folder_itself(study: Study, small: Path, tmp_path: Path) -> None:
    assert study_folder(small, study) == small / study
    assert study_folder(small / study, study) == small / study
    renamed = tmp_path / "my copy"
    renamed.symlink_to(small / study)
    assert study_folder(renamed, study) == renamed


def test_every_study_is_known_by_files_that_no_other_has(small: Path) -> None:
    assert set(MARKS) == set(Study)
    for study, patterns in MARKS.items():
        there = {other for other in Study for mark in patterns if [*(small / other).glob(mark)]}
        assert there == {study}


@pytest.mark.parametrize("study", ["mei2023", "briegel2023"])
def test_the_folder_of_another_study_is_named(study: str, small: Path) -> None:
    folder = small / "lin2022"
    with pytest.raises(PublishedError) as error:
        study_folder(folder, study)
    assert str(error.value) == (
        f"{folder} has the files of lin2022, not those of {study}. Give lin2022 as the study, "
        f"or give the folder above {study} with --data."
    )


def test_a_folder_with_neither_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(PublishedError) as error:
        study_folder(tmp_path, "lin2022")
    assert str(error.value) == (
        f"The authors' files of lin2022 were not found, neither in {tmp_path} nor in "
        f"{tmp_path / 'lin2022'}. Download them with --download, or give their folder with --data."
    )


def test_the_folder_of_the_study_without_its_files_says_what_is_missing(tmp_path: Path) -> None:
    folder = tmp_path / "lin2022"
    folder.mkdir()
    with pytest.raises(PublishedError, match="has no file named like 'MODEL_all_df_intention"):
        results(study_folder(folder, "lin2022"))


def test_a_download_goes_where_the_folders_of_studies_lie(tmp_path: Path) -> None:
    """Into the study's own folder, whether it is there yet or not, and never into one below it."""
    own = tmp_path / "lin2022"
    assert folder_above(tmp_path, ["lin2022"]) == tmp_path
    assert folder_above(own, ["lin2022"]) == tmp_path
    assert folder_above(own, list(Study)) == own
    (own / "lin2022").mkdir(parents=True)
    assert folder_above(own, ["lin2022"]) == own


def test_what_is_no_plain_file_of_a_bounded_size_is_refused(tmp_path: Path) -> None:
    pipe, large = tmp_path / "pipe.csv", tmp_path / "large.csv"
    os.mkfifo(pipe)
    large.touch()
    os.truncate(large, LARGEST + 1)
    for path, reason in ((pipe, "is a named pipe"), (large, "Allowed: up to 268,435,456")):
        with pytest.raises(InputError, match=reason):
            read_lines(path)
        with pytest.raises(InputError, match=reason):
            read_csv(path, ["word"])
