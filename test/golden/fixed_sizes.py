"""Writes fixed-sizes.json and the ONNX files of fixed-sizes: tiny models that PyTorch exported for inputs of a fixed size, such as 1 × 24.

The answers are those of the PyTorch models, for each text alone: the mean of the hidden states, or logits of pairs. Texts are cut at the
fixed length. `npx biome check --write` formats the file. Needs torch, transformers, onnx and onnxscript.
"""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import onnx
import torch
import transformers
from classifiers import drawn, rounded
from tiny_tokenizers import TOKENIZERS, tokenizer_of
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

HERE = Path(__file__).parent
LENGTH, POSITIONS = 24, 40
SIZES = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, max_position_embeddings=POSITIONS)
SMALL = SIZES | dict(hidden_size=8, intermediate_size=8)
MODERNBERT = SMALL | dict(num_hidden_layers=2, global_attn_every_n_layers=2, local_attention=8, bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3)
LONG = "anna maria works for acme corp in new york and she does not live in tokyo where dancing and cooking is the example"
TEXTS = ["ok", "where does she live?", "Anna works for ACME Corp.", "a tower in tokyo, not in paris", LONG]
PAIRS = [["where does anna live?", text] for text in TEXTS]
LABELS = dict(id2label={0: "no", 1: "maybe", 2: "yes"}, label2id={"no": 0, "maybe": 1, "yes": 2})

# Family, keys, exporter, shape of the example, and the axes that may vary.
CASES = {
    "bert 1x24, TorchScript": ("bert", SIZES, "legacy", (1, LENGTH), []),
    "bert 1xN, dynamo": ("bert", SIZES, "dynamo", (1, LENGTH), [1]),
    "roberta 1x24, dynamo": ("roberta", SMALL | dict(type_vocab_size=1), "dynamo", (1, LENGTH), []),
    "bert Nx24, dynamo": ("bert", SIZES, "dynamo", (2, LENGTH), [0]),
    "bert of pairs 2x24, dynamo": ("bert", SIZES | LABELS, "dynamo", (2, LENGTH), []),
    "modernbert 1xN, TorchScript": ("modernbert", MODERNBERT, "legacy", (1, LENGTH), [1]),
}


class Called(torch.nn.Module):
    """Takes the inputs by their places."""

    def __init__(self, model, names, output):
        super().__init__()
        self.model, self.names, self.output = model, names, output

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs)))[self.output]


def export(path, model, names, output, exporter, shape, open_axes):
    """Exports a model, and removes the notes that the dynamo exporter adds to nodes."""
    ones = torch.ones(shape, dtype=torch.long)
    inputs = tuple(ones * (0 if name == "token_type_ids" else 1) for name in names)
    called = Called(model, names, output).eval()
    options = dict(input_names=names, output_names=[output])
    with contextlib.redirect_stdout(io.StringIO()):
        if exporter == "legacy":
            axes = {axis: ["batch", "sequence"][axis] for axis in open_axes}
            dynamic = {name: axes for name in [*names, output]} if axes else None
            torch.onnx.export(called, inputs, path, dynamo=False, opset_version=17, dynamic_axes=dynamic, **options)
        else:
            each = {axis: torch.export.Dim.DYNAMIC for axis in open_axes}
            dynamic = {"inputs": tuple(each for _ in names)} if open_axes else None
            torch.onnx.export(called, inputs, path, dynamo=True, external_data=False, dynamic_shapes=dynamic, **options)
    exported = onnx.load(path)
    for graph in [exported.graph, *exported.functions]:
        for node in graph.node:
            del node.metadata_props[:]
    del exported.graph.value_info[:]
    onnx.save(exported, path)


def case(name, family, keys, exporter, shape, open_axes):
    tokenizer = tokenizer_of(TOKENIZERS.get(family, TOKENIZERS["bert"]))
    tokenizer.model_max_length = POSITIONS - 2
    is_pairs = "id2label" in keys
    config = AutoConfig.for_model(family, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **keys)
    model = (AutoModelForSequenceClassification if is_pairs else AutoModel).from_config(config).eval()
    model.load_state_dict(drawn({name: tuple(tensor.shape) for name, tensor in model.named_parameters()}), strict=False)
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * (family == "bert")
    output = "logits" if is_pairs else "last_hidden_state"
    file = f"{name.replace(', ', '-').replace(' ', '-')}.onnx".lower()
    export(str(HERE / "fixed-sizes" / file), model, names, output, exporter, shape, open_axes)
    with tempfile.TemporaryDirectory() as folder:
        config.architectures = [type(model).__name__]
        config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        files = {path.name: json.loads(path.read_text()) for path in sorted(Path(folder).glob("*.json"))}
    longest = POSITIONS - 2 if 1 in open_axes else LENGTH
    inputs = PAIRS if is_pairs else TEXTS
    answers = []
    for text in inputs:
        tokens = tokenizer(*(text if is_pairs else [text]), truncation=True, max_length=longest, return_tensors="pt")
        # What the tokenizer leaves out, the file gets as zeros.
        found = model(**{key: value for key, value in tokens.items() if key in names})[output][0].detach()
        answers.append(rounded((found if is_pairs else found.mean(0)).tolist()))
    return dict(file=file, files=files, inputs=inputs, answers=answers)


(HERE / "fixed-sizes").mkdir(exist_ok=True)
stored = {name: case(name, *each) for name, each in CASES.items()}
made_with = f"torch {torch.__version__}, transformers {transformers.__version__}"
(HERE / "fixed-sizes.json").write_text(json.dumps(dict(made_with=made_with, cases=stored)))
