"""goffman replicate as a user runs it."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from file_server import serving

from goffman.cli.catalog import published_folder
from goffman.replicate.download import published_files
from goffman.replicate.rows import Study
from in_process import GOFFMAN, goffman, process


def without_published() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "GOFFMAN_PUBLISHED"}


def replicate(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return goffman("replicate", *arguments, env=without_published() | environment)


def test_without_the_files_it_says_how_to_get_them(tmp_path: Path) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    done = process(GOFFMAN, "replicate", "lin2022", env=without_published() | home)
    assert (done.returncode, done.stdout) == (2, "")
    folder = published_folder({"XDG_CACHE_HOME": str(tmp_path)}, "linux") / "lin2022"
    if sys.platform == "linux":
        assert done.stderr == (
            "The authors' files of lin2022 were not found, because there is no folder "
            f"{folder.parent}. Download them with --download, or give their folder with --data.\n"
        )


def test_the_folder_of_the_study_itself_will_do(small: Path) -> None:
    above = replicate("lin2022", "--data", small)
    itself = replicate("lin2022", "--data", small / "lin2022")
    assert (itself.returncode, itself.stderr) == (above.returncode, "")
    assert itself.stdout == above.stdout
    assert itself.stdout.startswith("lin2022")


def test_the_folder_of_one_study_does_not_do_for_all(small: Path) -> None:
    done = replicate("--data", small / "lin2022")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"{small / 'lin2022'} has the files of lin2022, not those of mei2023. Give lin2022 as "
        "the study, or give the folder above mei2023 with --data.\n"
    )


def test_where_the_files_lie_by_the_rules_of_each_platform() -> None:
    home = Path.home()
    assert published_folder({}, "linux") == home / ".cache/goffman/published"
    assert published_folder({"XDG_CACHE_HOME": "/c"}, "linux") == Path("/c/goffman/published")
    assert published_folder({}, "darwin") == home / "Library/Caches/goffman/published"
    assert published_folder({"LOCALAPPDATA": "/l"}, "win32") == Path("/l/goffman/published")
    assert published_folder({"GOFFMAN_PUBLISHED": "/p"}, "darwin") == Path("/p")


def test_numbers_that_should_agree_and_do_not_end_with_1(small: Path) -> None:
    done = replicate("briegel2023", "--data", small)
    assert done.returncode == 1
    assert "DIFFERS" in done.stdout
    assert " differ, " in done.stdout.splitlines()[-2]


def test_json_of_one_study_and_of_all(small: Path) -> None:
    one = json.loads(replicate("lin2022", "--data", small, "--json").stdout)
    assert set(one) == {"study", "rows"}
    assert one["study"] == "lin2022"
    assert set(one["rows"][0]) == {"name", "published", "recomputed", "agrees", "note"}
    every = json.loads(replicate("--json", GOFFMAN_PUBLISHED=str(small)).stdout)
    assert [each["study"] for each in every] == list(Study)
    assert every[1] == one


def test_an_unknown_study_is_refused_with_those_there_are() -> None:
    done = replicate("lin2023")
    assert done.returncode == 2
    assert all(study in done.stderr for study in Study)


def test_ratings_are_read_from_a_file(small: Path, tmp_path: Path) -> None:
    ratings = tmp_path / "r.csv"
    ratings.write_text("word,label\npossible,positive\nimpossible,negative\n")
    done = replicate("mei2023", "--data", small, "--ratings", ratings, "--json")
    rows = json.loads(done.stdout)["rows"]
    assert any("with the ratings in r.csv" in row["note"] for row in rows)


def test_a_wrong_file_from_the_server_ends_with_1_and_no_table(tmp_path: Path) -> None:
    wrong = {}
    for file in published_files(["lin2022"]):
        (address,) = file.addresses("")
        wrong[address] = b"no such thing"
    with serving(wrong) as served:
        done = replicate("lin2022", "--download", "--data", tmp_path, GOFFMAN_GITHUB=served.address)
    assert (done.returncode, done.stdout) == (1, "")
    assert "is not the file that the authors published" in done.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def download(study: str, published: Path, folder: Path, *, times: int = 1) -> list[Any]:
    """The published files from a server; addresses escape signs of their folders."""
    files = published_files([study])
    contents = {
        unquote(file.addresses("")[0]): (published / study / file.path).read_bytes()
        for file in files
    }
    with serving(contents) as served:
        done = [
            replicate(study, "--download", "--data", folder, GOFFMAN_GITHUB=served.address)
            for _ in range(times)
        ]
    assert done[0].returncode == 0
    assert f"{len(files)} files were downloaded. They are in " in done[0].stderr
    return done


def test_downloaded_from_a_server_it_agrees(published: Path, tmp_path: Path) -> None:
    first, again = download("lin2022", published, tmp_path, times=2)
    rest = (
        "Not fetched, because no sha256 is known to check it: lin2022, the outputs of "
        "bert and mentalbert, and the phrases of mentalroberta and clinicallongformer, in 'output': "
        "without them there are no figures of these models. You can put it into the study's folder "
        "by hand: "
        "https://github.com/LucilleN/MH-Stigma-in-Masked-LMs/tree/"
        "f4ff3a7bceacca0a36c5e6884ab0fc4b183923b6.\n"
    )
    assert first.stderr == f"13 files were downloaded. They are in {tmp_path}.\n{rest}"
    assert again.stderr == f"All files are already there. They are in {tmp_path}.\n{rest}"
    assert (first.stdout, 0) == (again.stdout, again.returncode)


@pytest.mark.parametrize("study", ["moore2025", "gueorguieva2025"])
def test_the_later_studies_are_downloaded_whole_and_agree(
    study: str, published: Path, tmp_path: Path
) -> None:
    (done,) = download(study, published, tmp_path)
    assert "DIFFERS" not in done.stdout
    assert f"Not fetched, because no sha256 is known to check it: {study}, " in done.stderr


def test_downloaded_into_the_folder_of_the_study_itself_it_is_not_put_below_it(
    published: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "lin2022"
    (done,) = download("lin2022", published, folder)
    assert f"They are in {tmp_path}.\n" in done.stderr
    assert len([path for path in folder.iterdir() if path.is_file()]) == 13
    assert not (folder / "lin2022").exists()


@pytest.mark.slow
def test_all_studies_agree_in_under_20_seconds(published: Path) -> None:
    """Of processor time, so that a busy machine does not make it fail."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = process(GOFFMAN, "replicate", "--data", published)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 20
    assert done.returncode == 0
    assert "DIFFERS" not in done.stdout
    counts = re.findall(r"(\d+) numbers agree, (\d+) differ, (\d+) differ for a known", done.stdout)
    agree, differ, known = zip(*(map(int, each) for each in counts), strict=True)
    assert agree == (10, 71, 52, 43, 53)
    assert differ == (0, 0, 0, 0, 0)
    assert known == (10, 3, 1, 4, 10)
    page = (Path(__file__).parents[2] / "docs" / "replication.md").read_text(encoding="utf-8")
    assert (
        f"{sum(agree)} numbers agree ({', '.join(map(str, agree[:-1]))} and {agree[-1]} in the five "
        "studies), "
        f"{sum(known)} say *see note*, and none differs without an explanation"
    ) in page


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_fits_the_terminal(columns: int, small: Path) -> None:
    done = replicate("mei2023", "--data", small, COLUMNS=str(columns))
    assert max(map(len, done.stdout.splitlines())) <= columns
