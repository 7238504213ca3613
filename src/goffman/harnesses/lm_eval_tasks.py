"""Questions as a folder of tasks for lm-evaluation-harness: --include_path FOLDER.

Options are multiple_choice tasks for causal models; what is answered in text is generate_until, for
chat models. Each task finds its questions in a file beside its own, wherever the folder lies.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goffman.harnesses.folder import README, template, write_folder
from goffman.harnesses.handed import Handed
from goffman.harnesses.rows import choice_row, reply_row
from goffman.models.base import Sampling
from goffman.records import InstrumentKind

VERSION = "0.4.13"
"""Of lm-eval, that these tasks are tested with."""

KINDS: tuple[InstrumentKind, ...] = ("choose", "say", "ask", "write")
"""What lm-eval can ask."""

CHOICE, REPLY = "goffman-choice", "goffman-reply"
"""The tags by which all tasks of a sort are run."""

HEADING = "# Questions of goffman for lm-evaluation-harness"

_ABOUT = f"""\
{HEADING}

Written for lm-eval {VERSION}. Tasks for causal models have the tag `{CHOICE}`: they compare the
probabilities of the answer options, in every order of the options. Tasks for chat models have the
tag `{REPLY}`: they read the text of the reply.

```
lm-eval run --model hf --model_args pretrained=gpt2,add_bos_token=True \\
  --include_path . --tasks {CHOICE} --log_samples --output_path logs
lm-eval run --model hf --model_args pretrained=HuggingFaceTB/SmolLM2-135M-Instruct \\
  --include_path . --tasks {REPLY} --apply_chat_template --log_samples --output_path logs
goffman read logs/MODEL --output runs/MODEL
```

`--limit N` asks prompts and control items in turn. The scores that lm-eval prints are a first look.
`goffman read` makes a run of the log, with intervals, tests and a report. It needs `--log_samples`.

| task | prompts | instrument |
|---|---|---|
"""


def write_lm_eval_tasks(several: Sequence[Handed], folder: Path) -> list[Path]:
    """The files, which are now in the folder; InputError where it holds something else."""
    texts = {"utils.py": template("lm_eval_utils.py.txt")}
    rows = []
    for one in several:
        name = one.note.instrument
        row_of = choice_row if one.table == "choices" else reply_row
        lines = (json.dumps(row_of(prompt), ensure_ascii=False) for prompt in one.prompts)
        texts[f"{name}.jsonl"] = "".join(f"{line}\n" for line in lines)
        texts[f"{name}.yaml"] = _yaml(one)
        title = one.question.instrument.title
        rows.append(f"| {task_name(name)} | {one.note.prompts:,} | {title} |\n")
    texts[README] = _ABOUT + "".join(rows)
    return write_folder(folder, texts, heading=HEADING)


def task_name(instrument: str) -> str:
    """What lm-eval calls an instrument in one form."""
    return f"goffman-{instrument}"


def _yaml(one: Handed) -> str:
    """The task's file: JSON, which is YAML too, but for the functions."""
    name, choice = one.note.instrument, one.table == "choices"
    settings: dict[str, Any] = {
        "task": task_name(name),
        "tag": CHOICE if choice else REPLY,
        "custom_dataset": "!function utils.dataset",
        "dataset_kwargs": {"file": f"{name}.jsonl"},
        "test_split": "test",
        "num_fewshot": 0,
        "doc_to_text": "text",
        "doc_to_target": "target",
        **(_choice() if choice else _reply(one.question.trials)),
        "metadata": one.note.entry(),
    }
    lines = [
        f"{key}: {value if str(value).startswith('!') else json.dumps(value, ensure_ascii=False)}\n"
        for key, value in settings.items()
    ]
    return "# Written by goffman.\n" + "".join(lines)


def _choice() -> dict[str, Any]:
    return {
        "output_type": "multiple_choice",
        "doc_to_choice": "spellings",
        # Each spelling has its own space, or none.
        "target_delimiter": "",
        "process_results": "!function utils.scored_choice",
        "metric_list": [_mean("code"), _mean("on_options")],
    }


def _reply(trials: int) -> dict[str, Any]:
    drawn = Sampling()
    return {
        "output_type": "generate_until",
        "repeats": trials,
        "generation_kwargs": {
            "until": [],
            "do_sample": True,
            "temperature": drawn.temperature,
            "max_gen_toks": drawn.max_tokens,
        },
        "process_results": "!function utils.scored_reply",
        "metric_list": [_mean("code"), _mean("answered")],
    }


def _mean(metric: str) -> dict[str, Any]:
    """A metric; a code is neither better nor worse for being higher."""
    return {"metric": metric, "aggregation": "mean", "higher_is_better": metric != "code" or None}
