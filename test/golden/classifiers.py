"""Writes classifiers.json: the logits that transformers computes with tiny classifiers of every family.

test/fixtures/classifier-case.ts draws the same weights: see `draw` there and `values` here. Needs torch and transformers.
"""

import json
from pathlib import Path

import numpy
import torch
import transformers
from transformers import AutoConfig, AutoModelForSequenceClassification

SIZES = dict(
    vocab_size=20, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
    max_position_embeddings=16, bos_token_id=0, eos_token_id=2, pad_token_id=1, id2label={0: "no", 1: "maybe", 2: "yes"},
)
DISTILBERT = dict(dim=8, n_layers=2, n_heads=2, hidden_dim=12)
MODERN = dict(cls_token_id=0, sep_token_id=2, local_attention=4)
MEAN = dict(classifier_pooling="mean", classifier_bias=True, norm_bias=True, classifier_activation="silu")
CASES = {
    "bert": ("bert", SIZES | dict(problem_type="single_label_classification")),
    "roberta": ("roberta", SIZES | dict(problem_type="multi_label_classification")),
    "xlm-roberta": ("xlm-roberta", SIZES),
    "camembert": ("camembert", SIZES),
    "mpnet": ("mpnet", SIZES),
    "distilbert": ("distilbert", {k: v for k, v in SIZES.items() if k not in ("hidden_size", "intermediate_size")} | DISTILBERT),
    "electra": ("electra", SIZES | dict(embedding_size=4, hidden_act="relu")),
    "albert": ("albert", SIZES | dict(embedding_size=4)),
    "nomic_bert": ("nomic_bert", SIZES),
    "modernbert": ("modernbert", SIZES | MODERN),
    "modernbert, mean": ("modernbert", SIZES | MODERN | MEAN),
}
IDS = [[0, 5, 9, 13, 7, 19, 2], [0, 4, 18, 2, 1, 1, 1], [0, 11, 2, 1, 1, 1, 1]]


def mulberry32(seed):
    state = seed
    while True:
        state = (state + 0x6D2B79F5) & 0xFFFFFFFF
        mixed = ((state ^ state >> 15) * (state | 1)) & 0xFFFFFFFF
        mixed = mixed ^ (mixed + (((mixed ^ mixed >> 7) * (mixed | 61)) & 0xFFFFFFFF)) & 0xFFFFFFFF
        yield (mixed ^ mixed >> 14) / 2**32


def values(name, shape, random):
    """Draws random values: around 1 for gains, around 0 for all other tensors."""
    center, spread = (0, 2 / shape[1] ** 0.5) if len(shape) == 2 else (0 if name.endswith("bias") else 1, 0.5)
    numbers = [center + spread * (2 * next(random) - 1) for _ in range(int(numpy.prod(shape)))]
    return torch.tensor(numpy.array(numbers, dtype=numpy.float32).reshape(shape))


def drawn(shapes):
    """Draws the values of tensors in the order of their names in `shapes`."""
    random = mulberry32(1)
    return {name: values(name, shape, random) for name, shape in shapes.items()}


def rounded(value):
    return [rounded(each) for each in value] if isinstance(value, list) else round(value, 6)


def case(family, keys, auto=AutoModelForSequenceClassification, logits=lambda output: output.logits):
    config = AutoConfig.for_model(family, **keys)
    model = auto.from_config(config, attn_implementation="eager").eval()
    config.architectures = [type(model).__name__]
    weights = drawn({name: tuple(tensor.shape) for name, tensor in model.named_parameters()})
    model.load_state_dict(weights, strict=False)
    ids = torch.tensor(IDS)
    with torch.no_grad():
        found = logits(model(input_ids=ids, attention_mask=(ids != 1).long()))
    return dict(
        config=json.loads(config.to_json_string()),
        tensors=" ".join(f"{name}={'x'.join(map(str, tensor.shape))}" for name, tensor in weights.items()),
        logits=rounded(found.tolist()),
    )


def write(file, cases, indent=2, **more):
    made = dict(made_with=f"transformers {transformers.__version__}", ids=IDS, cases=cases, **more)
    (Path(__file__).parent / file).write_text(json.dumps(made, indent=indent))


if __name__ == "__main__":
    write("classifiers.json", {name: case(*arguments) for name, arguments in CASES.items()})
