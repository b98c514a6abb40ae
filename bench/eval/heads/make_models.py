"""Writes a model folder for each head: an encoder with trained weights, and a head with random ones.

    python make_models.py <encoder folder> <out>

The heads are drawn wide enough that texts get different answers. Needs torch and transformers.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import save_file
from transformers import (AutoModel, AutoModelForMaskedLM, AutoModelForQuestionAnswering,
                          AutoModelForSequenceClassification, AutoModelForTokenClassification)

SEED = 19
TOKEN_DIMENSIONS = 64
INFERENCE = ["contradiction", "neutral", "entailment"]
ENTITIES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def labels(names, problem_type="single_label_classification"):
    return dict(id2label=dict(enumerate(names)), label2id={name: i for i, name in enumerate(names)}, problem_type=problem_type)


def classifier(*arguments):
    return AutoModelForSequenceClassification, labels(*arguments)


HEADS = {
    "classify": classifier(["no", "maybe", "yes"]),
    "classify-multi-label": classifier(["toxic", "obscene", "threat", "insult"], "multi_label_classification"),
    "regression": classifier(["stars"], "regression"),
    "classify-pair": classifier(INFERENCE),
    "rerank": (AutoModelForSequenceClassification, dict(id2label={0: "relevant"}, label2id={"relevant": 0})),
    "tag": (AutoModelForTokenClassification, dict(id2label=dict(enumerate(ENTITIES)))),
    "answer": (AutoModelForQuestionAnswering, {}),
    "fill-mask": (AutoModelForMaskedLM, {}),
    "sparse": (AutoModelForMaskedLM, {}),
}


def drawn(model, encoder):
    """Draws the tensors that the encoder does not have: weights whose products have a variance of about 1."""
    known = {f"{model.base_model_prefix}.{name}" for name in encoder.state_dict()}
    tied = getattr(model.get_output_embeddings() or None, "weight", None)
    for name, tensor in model.named_parameters():
        if name in known or tensor is tied:
            continue
        with torch.no_grad():
            if tensor.dim() == 2:
                tensor.normal_(0, 1 / tensor.shape[1] ** 0.5)
            elif not name.endswith("LayerNorm.weight"):
                tensor.zero_()


def write(encoder_folder, folder, auto, config):
    torch.manual_seed(SEED)
    model = auto.from_pretrained(encoder_folder, dtype=torch.float32, **config).eval()
    drawn(model, AutoModel.from_pretrained(encoder_folder, dtype=torch.float32))
    model.save_pretrained(folder)


def write_late_interaction(encoder_folder, folder):
    """Writes a model in the format of Stanford's ColBERT."""
    torch.manual_seed(SEED)
    encoder = AutoModel.from_pretrained(encoder_folder, dtype=torch.float32)
    encoder.config.architectures = ["HF_ColBERT"]
    encoder.config.dtype = "float32"
    encoder.config.save_pretrained(folder)
    hidden = encoder.config.hidden_size
    tensors = {f"bert.{name}": tensor.contiguous() for name, tensor in encoder.state_dict().items()}
    tensors["linear.weight"] = torch.randn(TOKEN_DIMENSIONS, hidden) / hidden**0.5
    save_file(tensors, folder / "model.safetensors", metadata=dict(format="pt"))


def main(encoder_folder, out):
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for head, (auto, config) in HEADS.items():
        write(encoder_folder, out / head, auto, config)
    (out / "token-vectors").mkdir()
    write_late_interaction(encoder_folder, out / "token-vectors")
    for folder in out.iterdir():
        for file in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(encoder_folder / file, folder / file)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
