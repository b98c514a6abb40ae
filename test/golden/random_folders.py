"""Writes model folders in which two random keys are changed, and what their authors' libraries answer for them.

A folder is one that the library saved, with tiny weights. The keys are those of its JSON files. The seed and the number of a folder decide
everything about it. test/fixtures/random-folder.ts writes the same folders. Needs torch, transformers and sentence-transformers; with
pylate, draws the folders of ColBERT:

    python test/golden/random_folders.py <file> [--count 40] [--seed 0] [--only <number>]

random-folders-4.json is made of transformers 4.57 with --count 12 --seed 7, random-folders-5.json of 5.24 with --count 9 --seed 239,
and random-folders-pylate.json of pylate 1.6 with --count 5 --seed 6.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import random
import shutil
import tempfile
import warnings
from pathlib import Path

os.environ |= dict(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical", TOKENIZERS_PARALLELISM="false")

import torch
from folder_keys import DELETED, LIVE, SHARES, choices, kind_of
from folder_kinds import KINDS, PAIRS, SOME, TEXTS, answers, json_files, save

LIBRARIES = ["transformers", "sentence-transformers"] + ["pylate"] * bool(importlib.util.find_spec("pylate"))


def drawn_edits(random, files):
    """Draws the values of two keys."""
    edits = []
    while len(edits) < 2:
        names = [name for name in files if kind_of(name) in SHARES]
        file = random.choices(names, [SHARES[kind_of(name)] for name in names])[0]
        possible = choices(files, file)
        parts = list(dict.fromkeys(path[:1] for path in possible))
        part = random.choice(parts + [key for key in parts if LIVE.issuperset(key)] * 3)
        path = random.choice([each for each in possible if each[:1] == part])
        if any(edit["file"] == file and edit["path"][:len(path)] == list(path)[:len(edit["path"])] for edit in edits):
            continue
        value = random.choice(possible[path])
        edits.append(dict(file=file, path=list(path), **({} if value is DELETED else dict(value=value))))
    # Deleted tokens move the others.
    return sorted(edits, key=lambda edit: ("value" not in edit, [-key for key in edit["path"] if isinstance(key, int)]))


def edited(content, path, edit):
    """Returns a part of a file with a changed key."""
    if not path:
        return edit["value"]
    key, *rest = path
    made = list(content) if isinstance(content, list) else dict(content)
    if not rest and "value" not in edit:
        made.pop(key)
    else:
        made[key] = edited(made[key] if rest else None, rest, edit)
    return made


def write_edit(folder, edit):
    file = folder / edit["file"]
    if edit["path"] or "value" in edit:
        file.write_text(json.dumps(edited(json.loads(file.read_text()), edit["path"], edit)))
    else:
        file.unlink()


class Folders:
    """Folders that the library saved, and copies of them with changed keys."""

    def __init__(self, work):
        self.work = work
        self.bases = {}

    def base(self, family, name):
        kind = KINDS[name]
        base = f"{family}, {name}"
        if base not in self.bases:
            folder = self.work / base
            tensors = save(folder, family, kind)
            self.bases[base] = dict(asks=kind.asks, refused=kind.refused, tensors=tensors, files=json_files(folder),
                                    answers=answers(folder, kind))
        return base, self.bases[base]

    def case(self, seed, number):
        draw = random.Random(f"{seed} {number}")
        name = draw.choices(list(KINDS), [kind.share for kind in KINDS.values()])[0]
        base, found = self.base(draw.choice(KINDS[name].families), name)
        edits = drawn_edits(draw, found["files"])
        folder = self.work / "edited"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.work / base, folder)
        for edit in edits:
            write_edit(folder, edit)
        case = dict(number=number, base=base, edits=edits)
        try:
            return case | dict(answers=answers(folder, KINDS[name]))
        # Panics of the Rust tokenizers are no Exceptions.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return case | dict(error=f"{type(error).__name__}: {str(error)[:160]}")


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    options = argparse.ArgumentParser()
    options.add_argument("file")
    options.add_argument("--count", type=int, default=40)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", type=int)
    given = options.parse_args()
    numbers = range(given.count) if given.only is None else [given.only]
    with tempfile.TemporaryDirectory() as work:
        made = Folders(Path(work))
        cases = [made.case(given.seed, number) for number in numbers]
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    head = dict(versions=versions, seed=given.seed, texts=TEXTS, some=SOME, pairs=PAIRS, bases=made.bases)
    lines = ",\n".join(compact(case) for case in cases)
    Path(given.file).write_text(f'{compact(head)[:-1]},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
