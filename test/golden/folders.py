"""Tiny model folders whose weights are drawn as in classifiers.py, so that only their other files are stored."""

import json
from pathlib import Path
from tempfile import mkdtemp

import numpy
import torch
from classifiers import drawn
from tiny_tokenizers import tokenizer_of
from transformers import AutoConfig, AutoModel

BERT = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=64)


def base(tokenizer):
    """Writes a folder with a BERT. Returns its path."""
    folder = mkdtemp()
    made = tokenizer_of(tokenizer)
    AutoModel.from_config(AutoConfig.for_model("bert", vocab_size=len(made), **BERT)).save_pretrained(folder)
    made.save_pretrained(folder)
    return folder


def draw_weights(module):
    shapes = {name: tuple(tensor.shape) for name, tensor in module.named_parameters()}
    module.load_state_dict(drawn(shapes), strict=False)
    return " ".join(f"{name}={'x'.join(map(str, shape))}" for name, shape in shapes.items())


def stored(model, paths):
    """Draws the weights of a model's modules. Returns the files of its folder, and the tensors of its weight files by path."""
    tensors = {path: draw_weights(module) for path, module in paths.items()}
    folder = Path(mkdtemp())
    model.save_pretrained(str(folder))
    files = {str(file.relative_to(folder)): json.loads(file.read_text()) for file in sorted(folder.rglob("*.json"))}
    return folder, files, tensors


def rounded(rows):
    return [round(float(number), 7) for number in numpy.asarray(rows).ravel()]


def write(file, made_with, cases):
    (Path(__file__).parent / file).write_text(json.dumps(dict(made_with=made_with, cases=cases)))


torch.set_num_threads(1)
