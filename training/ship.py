"""The models as they are shipped: WORK/mini, WORK/sentiment → FOLDER/mini, FOLDER/mini-sentiment.

python training/ship.py WORK src/goffman/models/bundled

Weights are rounded to float16. Of the classifier only the tensors that differ are stored; an index,
as for weights in several files, says that the others are those of mini.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

TOKENIZER = {
    "tokenizer_class": "BertTokenizer",
    "do_lower_case": True,
    "model_max_length": 512,
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}


def rounded(path: Path) -> dict[str, torch.Tensor]:
    """Every tensor in float16; RuntimeError where one does not fit."""
    weights = {name: value.half().contiguous() for name, value in load_file(path).items()}
    if not all(bool(value.isfinite().all()) for value in weights.values()):
        raise RuntimeError(f"{path} has a weight that float16 cannot hold.")
    return weights


def write(folder: Path, start: Path, config: Path) -> None:
    """Return a model's folder, as yet without weights."""
    folder.mkdir(parents=True, exist_ok=True)
    content = json.loads(config.read_text()) | {"dtype": "float16"}
    (folder / "config.json").write_text(json.dumps(content, indent=2, sort_keys=True) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER, indent=2) + "\n")
    shutil.copyfile(start / "tokenizer.json", folder / "tokenizer.json")


def save(weights: dict[str, torch.Tensor], path: Path) -> None:
    """Write the weights to a file and print its size."""
    save_file(weights, path, metadata={"format": "pt"})
    print(f"{path}: {len(weights)} tensors, {path.stat().st_size / 1e6:.1f} MB")


def main(work: Path, folder: Path) -> None:
    """Both folders are written."""
    base = rounded(work / "mini" / "model.safetensors")
    tuned = rounded(work / "sentiment" / "model.safetensors")
    differing = {
        name: value
        for name, value in tuned.items()
        if name not in base or not torch.equal(value, base[name])
    }
    write(folder / "mini", work / "start", work / "mini" / "config.json")
    save(base, folder / "mini" / "model.safetensors")
    write(folder / "mini-sentiment", work / "start", work / "sentiment" / "config.json")
    save(differing, folder / "mini-sentiment" / "model-differing.safetensors")
    where = {
        name: "model-differing.safetensors" if name in differing else "../mini/model.safetensors"
        for name in sorted(tuned)
    }
    size = sum(value.numel() * 2 for value in tuned.values())
    index = {"metadata": {"total_size": size}, "weight_map": where}
    path = folder / "mini-sentiment" / "model.safetensors.index.json"
    path.write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
