"""Writes pairs.json: the logits that transformers computes for pairs of texts, with classifiers of the other case files.

Needs torch and transformers.
"""

import json
from pathlib import Path

import classifiers
import families
import torch
import transformers
from transformers import AutoConfig, AutoModelForSequenceClassification

# Token ids, and the index of the first token of the second text.
PAIRS = [([0, 5, 9, 2, 13, 7, 19, 2], 4), ([0, 4, 18, 6, 12, 2, 2, 11, 2], 7), ([0, 2, 8, 2], 2), ([0, 8, 2, 2], 3)]
NAMES = ["bert", "roberta", "xlm-roberta", "electra", "albert", "nomic_bert", "gte", "deberta-v2",
         "deberta-v2, own projections"]


def logits_of(family, keys):
    config = AutoConfig.for_model(family, **keys)
    model = AutoModelForSequenceClassification.from_config(config, attn_implementation="eager").eval()
    weights = classifiers.drawn({name: tuple(tensor.shape) for name, tensor in model.named_parameters()})
    model.load_state_dict(weights, strict=False)
    rows = []
    for ids, second in PAIRS:
        types = [0] * second + [1] * (len(ids) - second)
        if getattr(config, "type_vocab_size", 0) < 2:
            types = [0] * len(ids)
        with torch.no_grad():
            row = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits[0]
        rows.append([round(float(value), 6) for value in row])
    return rows


if __name__ == "__main__":
    cases = classifiers.CASES | families.OF_TRANSFORMERS
    made = dict(
        made_with=f"transformers {transformers.__version__}",
        pairs=[dict(ids=ids, secondFrom=second) for ids, second in PAIRS],
        logits={name: logits_of(*cases[name]) for name in NAMES},
    )
    (Path(__file__).parent / "pairs.json").write_text(json.dumps(made, indent=2))
