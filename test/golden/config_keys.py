"""Writes config-keys.json: the keys of config.json that transformers saves for each family, and those that change a classifier's logits,
or without which it cannot be computed.

Each key gets another value, and the model keeps its weights. Run it with transformers 4.57 and with 5.24. Needs torch and transformers.
"""

import json
from pathlib import Path

import classifiers
import torch
import transformers
from transformers import AutoConfig, AutoModelForSequenceClassification

FILE = Path(__file__).parent / "config-keys.json"
FAMILIES = ["bert", "electra", "roberta", "xlm-roberta", "camembert", "distilbert", "albert", "mpnet", "modernbert",
            "nomic_bert", "gte", "eurobert", "deberta-v2"]
SIZES = dict(vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
             max_position_embeddings=32, pad_token_id=1)
IDS = torch.tensor([[0, 5, 9, 13, 7, 19, 2, 8, 30, 31, 3, 4]])


def other(value):
    """Returns another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return value / 2 if value else 0.5
    return {str: "other", list: [], dict: {}}.get(type(value), 1)


def logits(config, weights):
    model = AutoModelForSequenceClassification.from_config(config, attn_implementation="eager").eval()
    if weights is None:
        weights = classifiers.drawn({name: tuple(tensor.shape) for name, tensor in model.named_parameters()})
    model.load_state_dict(weights, strict=False)
    with torch.no_grad():
        return model(input_ids=IDS, attention_mask=torch.ones_like(IDS)).logits, weights


def family(name):
    defaults = {key: value for key, value in AutoConfig.for_model(name, **SIZES).to_dict().items() if not key.startswith("_")}
    expected, weights = logits(AutoConfig.for_model(name, **SIZES), None)
    changing, failing = [], []
    for key, value in defaults.items():
        if key in ("model_type", "transformers_version"):
            continue
        try:
            found, _ = logits(AutoConfig.for_model(name, **SIZES | {key: other(value)}), weights)
            if found.shape != expected.shape or (found - expected).abs().max() > 1e-4:
                changing.append(key)
        except Exception:
            failing.append(key)
    defaults = {key: value for key, value in AutoConfig.for_model(name).to_dict().items() if not key.startswith("_")}
    return dict(defaults=defaults, changing=changing, failing=failing)


def main():
    made = json.loads(FILE.read_text()) if FILE.exists() else {}
    known = [name for name in FAMILIES if name in transformers.models.auto.configuration_auto.CONFIG_MAPPING]
    made[transformers.__version__] = {name: family(name) for name in known}
    FILE.write_text(json.dumps(made, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
