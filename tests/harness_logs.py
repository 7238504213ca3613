"""Logs in the form in which lm-eval 0.4.13 and inspect_ai 0.3.285 write them, from given answers."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from goffman.harness.export_tasks import choice_row, reply_row

if TYPE_CHECKING:
    from pathlib import Path

WHEN = "2026-11-16T15-00-57.736854"


def lm_eval_log(folder: Path, handed, answers, *, model="made/up", **more) -> Path:
    """results_….json and samples_….jsonl in the folder; ``more``: other entries of the results.

    ``answers``: prompt id → label → probability, or the replies of each trial.
    """
    task = f"goffman-{handed.file_name}"
    lines = []
    for number, prompt in enumerate(one for one in handed.prompts if one.id in answers):
        found = answers[prompt.id]
        if handed.table == "choices":
            doc = choice_row(prompt)
            # All of an option's probability is on its first spelling.
            chances = [
                found[one.strip()] if one.startswith(" ") else 0.0 for one in doc["spellings"]
            ]
            logs = [math.log(chance) if chance else -math.inf for chance in chances]
            resps = [[[str(log), "False"]] for log in logs]
        else:
            doc, resps = reply_row(prompt), [list(found)]
        lines.append(json.dumps({"doc_id": number, "doc": doc, "resps": resps}) + "\n")
    results = {
        "results": {task: {"alias": task}},
        "configs": {
            task: {
                "task": task,
                "metadata": handed.note.entry(),
                "generation_kwargs": {"do_sample": True, "temperature": 0.5, "max_gen_toks": 9},
            }
        },
        "n-shot": {task: 0},
        "config": {
            "model": "hf",
            "model_dtype": "torch.bfloat16",
            "device": "cpu",
            "gen_kwargs": {},
        },
        "lm_eval_version": "0.4.13",
        "system_instruction": None,
        "model_name": model,
        **more,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"samples_{task}_{WHEN}.jsonl").write_text("".join(lines))
    path = folder / f"results_{WHEN}.json"
    path.write_text(json.dumps(results))
    return path


def inspect_log(path: Path, handed, answers, *, model="openai/made-up", failed=()) -> Path:
    """The log as JSON; ``answers``: prompt id → the replies of each trial."""
    samples = []
    for prompt in handed.prompts:
        for trial, text in enumerate(answers.get(prompt.id, ()), start=1):
            choice = {"message": {"role": "assistant", "content": text}, "stop_reason": "stop"}
            usage = {"input_tokens": 40, "output_tokens": 3}
            output = {"model": "made-up", "choices": [choice], "usage": usage}
            error = {"message": "it failed"} if prompt.id in failed else None
            samples.append(
                {"id": prompt.id, "epoch": trial, "input": prompt.text, "error": error}
                | {"output": {"model": "", "choices": []} if error else output}
            )
    about = {
        "task": f"goffman_tasks/{handed.file_name}",
        "model": model,
        "packages": {"inspect_ai": "0.3.285"},
        "metadata": {"goffman": handed.note.entry()},
        "model_generate_config": {"temperature": 0.0},
    }
    log = {"version": 2, "status": "success", "eval": about}
    log |= {"plan": {"config": {"max_tokens": 12, "temperature": 0.0}}, "samples": samples}
    path.write_text(json.dumps(log))
    return path
