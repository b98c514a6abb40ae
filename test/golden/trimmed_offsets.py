"""Writes trimmed-offsets.json: where transformers finds the tokens of a text, for RoBERTa's tokenizers that leave spaces out or not.

Run it with transformers 4.57 and with 5.24: each version adds its answers for folders that it wrote. `npx biome check --write` formats the
file. Needs transformers.
"""

import json
import tempfile
from pathlib import Path

import transformers
from tiny_tokenizers import byte_pairs, tokenizer_of
from transformers import AutoTokenizer

FILE = Path(__file__).parent / "trimmed-offsets.json"
TEXT = " anna  lives in  tokyo"
CLASSES = ["RobertaTokenizerFast", "RobertaTokenizer", "PreTrainedTokenizerFast"]
SETTINGS = [{}, dict(trim_offsets=True), dict(trim_offsets=False), dict(add_prefix_space=True)]
PARTS = [dict(type="RobertaProcessing", sep=["</s>", 2], cls=["<s>", 0], trim_offsets=trim, add_prefix_space=space)
         for trim in (True, False) for space in (True, False)]


def offsets_of(folder):
    return AutoTokenizer.from_pretrained(folder)(TEXT, return_offsets_mapping=True)["offset_mapping"]


def main():
    version = transformers.__version__
    made = json.loads(FILE.read_text()) if FILE.exists() else dict(text=TEXT, cases=[])
    made["cases"] = [case for case in made["cases"] if case["version"] != version]
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        tokenizer_of(byte_pairs).save_pretrained(folder)
        tokenizer = json.loads((folder / "tokenizer.json").read_text())
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        kept = {key: value for key, value in settings.items() if key.endswith("_token") or key == "model_max_length"}
        made.setdefault("tokenizer", tokenizer)
        made.setdefault("settings", kept)
        (folder / "special_tokens_map.json").unlink(missing_ok=True)
        (folder / "config.json").write_text(json.dumps(dict(model_type="roberta", transformers_version=version)))
        for name in CLASSES:
            for changed in SETTINGS:
                for part in PARTS:
                    edit = dict(tokenizer_class=name) | changed
                    (folder / "tokenizer.json").write_text(json.dumps(made["tokenizer"] | dict(post_processor=part)))
                    (folder / "tokenizer_config.json").write_text(json.dumps(made["settings"] | edit))
                    flat = [place for pair in offsets_of(folder) for place in pair]
                    made["cases"].append(dict(version=version, settings=edit, post_processor=part, offsets=flat))
    FILE.write_text(json.dumps(made))


if __name__ == "__main__":
    main()
