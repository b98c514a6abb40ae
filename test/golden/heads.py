"""Writes heads.json: what transformers computes with tiny models of every head and family.

The file has the same format as classifiers.json. The logits of heads of tokens are [batch, sequence, outputs]; those of
question answering are columns: start and end. Needs torch and transformers.
"""

import torch
from classifiers import CASES as CLASSIFIERS
from classifiers import case, write
from families import OF_TRANSFORMERS, RELATIVE, SIZES, TOKENS
from transformers import AutoModelForMaskedLM, AutoModelForQuestionAnswering, AutoModelForTokenClassification

HEADS = {
    "token-classification": AutoModelForTokenClassification,
    "question-answering": AutoModelForQuestionAnswering,
    "masked-lm": AutoModelForMaskedLM,
}
NO_ANSWERS = ("nomic_bert", "gte", "eurobert")
DISTILBERT = dict(dim=32, n_layers=2, n_heads=4, hidden_dim=48)


def wider(name):
    """Returns a case of classifiers.py with the sizes of families.py, with which all heads run on the edge engine."""
    family, keys = CLASSIFIERS[name]
    sizes = {key: value for key, value in SIZES.items() if key in keys}
    return family, keys | sizes | (DISTILBERT if family == "distilbert" else {}) | (
        dict(embedding_size=16) if "embedding_size" in keys else {})


FAMILIES = {name: wider(name) for name in CLASSIFIERS if name not in ("xlm-roberta", "camembert")}
FAMILIES |= {name: OF_TRANSFORMERS[name] for name in ("gte", "eurobert", "deberta-v2")}
MORE = {
    "masked-lm": {
        "deberta-v2, not legacy": ("deberta-v2", SIZES | TOKENS | RELATIVE | dict(legacy=False)),
        "bert, own table": ("bert", wider("bert")[1] | dict(tie_word_embeddings=False)),
    }
}


def logits(output):
    return output.logits if "logits" in output else torch.stack([output.start_logits, output.end_logits], -1)


def cases(head, auto):
    for name, (family, keys) in (FAMILIES | MORE.get(head, {})).items():
        if head == "question-answering" and family in NO_ANSWERS:
            continue
        unused = ("problem_type",) if head == "token-classification" else ("problem_type", "id2label")
        yield f"{name}: {head}", case(family, {k: v for k, v in keys.items() if k not in unused}, auto, logits)


if __name__ == "__main__":
    write("heads.json", {name: made for head, auto in HEADS.items() for name, made in cases(head, auto)}, indent=None)
