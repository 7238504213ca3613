"""A virtual environment of its own for another harness, made by the test that needs it.

torch, transformers and what else the tests run with are not installed again: a .pth file leads to
them. What is installed over them is pinned, so that pip resolves nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from made_once import made_once

LM_EVAL = [
    "absl-py==2.5.1",
    "aiohappyeyeballs==2.7.1",
    "aiohttp==3.14.5",
    "aiosignal==1.4.0",
    "chardet==6.0.0.post1",
    "DataProperty==0.37.0",
    "datasets==5.2.0",
    "defusedxml==0.7.1",
    "dill==0.4.1",
    "dominate==2.9.1",
    "evaluate==0.4.6",
    "frozenlist==1.8.0",
    "lm-eval==0.4.13",
    "logbook==1.10.1",
    "lxml==6.1.3",
    "mbstrdecoder==1.1.5",
    "more-itertools==11.2.1",
    "msgfy==0.2.1",
    "multidict==7.2.1",
    "multiprocess==0.70.19",
    "nltk==3.10.4",
    "pathvalidate==3.3.1",
    "portalocker==4.4.2",
    "propcache==0.5.4",
    "pyarrow==26.0.1",
    "pytablewriter==0.38.0",
    "pytz==2026.6",
    "rouge-score==0.1.2",
    "sacrebleu==2.6.0",
    "six==1.17.0",
    "sqlitedict==2.1.0",
    "tabledata==0.0.26",
    "typepy==0.3.1",
    "word2number==1.1",
    "xxhash==4.1.0",
    "yarl==1.25.1",
]

INSPECT = [
    "agent-client-protocol==0.12.1",
    "aiobotocore==3.10.0",
    "aiohappyeyeballs==2.7.1",
    "aiohttp==3.14.5",
    "aioitertools==0.13.0",
    "aiosignal==1.4.0",
    "beautifulsoup4==4.15.0",
    "boto3==1.43.117",
    "botocore==1.43.117",
    "debugpy==1.8.22",
    "docstring-parser==0.18.0",
    "fastapi==0.162.4",
    "frozenlist==1.8.0",
    "fsspec==2026.6.0",
    "httpcore==1.0.9",
    "httpx==0.28.1",
    "ijson==3.6.0",
    "inspect-ai==0.3.285",
    "jmespath==1.1.0",
    "jsonlines==4.0.0",
    "jsonpatch==1.46",
    "jsonpath-ng==1.16.0",
    "jsonpointer==3.11",
    "jsonref==1.1.0",
    "linkify-it-py==2.2.0",
    "mdit-py-plugins==0.7.0",
    "mmh3==5.3.1",
    "multidict==7.2.1",
    "nest-asyncio2==1.7.4",
    "opentelemetry-api==1.45.2",
    "pathlib-abc==0.5.2",
    "propcache==0.5.4",
    "python-dateutil==2.9.0.post0",
    "python-dotenv==1.2.4",
    "s3fs==2026.6.0",
    "s3transfer==0.19.3",
    "semver==3.1.1",
    "shortuuid==1.0.13",
    "six==1.17.0",
    "soupsieve==4.1",
    "tenacity==9.2.1",
    "textual==8.2.8",
    "tiktoken==0.14.0",
    "universal-pathlib==0.3.10",
    "yarl==1.25.1",
    "zipfile-zstd==0.0.4",
    "zipp==4.1.2",
    "zstandard==0.25.0",
]


def harness_python(name: str, packages: list[str], *, within: Path) -> Path:
    """The Python of an environment with these packages; the test is skipped without an index."""

    def make(folder: Path) -> None:
        venv.create(folder)
        site = sysconfig.get_path("purelib", "venv", {"base": folder, "platbase": folder})
        here = sysconfig.get_path("purelib")
        (Path(site) / "zz-beside.pth").write_text(f"{here}\n", encoding="utf-8")
        python = folder / "bin" / "python"
        done = run_pip(python, "install", "--quiet", "--no-deps", *packages)
        if done.returncode:
            skip_without_index(python, packages[0])
            raise AssertionError(f"pip cannot install {name}:\n{done.stdout}{done.stderr}")

    return made_once(f"env-{name}", within=within, make=make) / "bin" / "python"


def run_pip(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What pip did, for the environment of this Python."""
    command = [sys.executable, "-m", "pip", "--python", str(python), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=900)


def skip_without_index(python: Path, package: str) -> None:
    """Skips where the index does not even say which versions of a package there are."""
    known = run_pip(python, "index", "versions", package.partition("==")[0])
    if known.returncode:
        pytest.skip(f"the package index cannot be reached: {known.stderr.strip()[-300:]}")


def run_harness(python: Path, *arguments: object, folder: Path, **variables: str) -> str:
    """What a harness prints; it runs in the folder and knows nothing of the network's models."""
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "hub")}
    environment = {**os.environ, **offline, **variables}
    environment.pop("PYTHONPATH", None)
    command = [str(python), *map(str, arguments)]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1500,
    )
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr
