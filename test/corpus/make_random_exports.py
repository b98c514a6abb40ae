"""
Makes random exports of mainstream encoders, for `npm run e2e:exports`.

    python test/corpus/make_random_exports.py <folder> [<part>/<parts>]

Each case is a folder with `model.onnx` and `case.json`, in the format of make_exports.py: inputs without padding, with
padding on the left and on the right, and the outputs of onnxruntime without optimizations. The outputs must agree with
PyTorch's. All cases are drawn from one generator before the first export, so parts can run at the same time. SEED was
fixed before the first run and is never changed: the cases must not be chosen by their results.

`failures.<part>.json` lists the draws that could not be exported, or that onnxruntime cannot run.

Python 3.11, with
    torch==2.13.0 transformers==5.23.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.30.0
"""

import json
import os
import random
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"
warnings.filterwarnings("ignore")

import numpy as np
import onnx
import onnxruntime as ort
import torch
import transformers

SEED = 17_112_317
CASES = 130
VOCABULARY, POSITIONS = 97, 48
# Tolerances for another order of sums, on outputs with magnitudes of a few units.
TOLERANCES = {"float32": 5e-5, "float16": 5e-2}

BOS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
FAMILIES = {
    "bert": ("bert", {"type_vocab_size": 2}),
    "minilm": ("bert", {"type_vocab_size": 2}),
    "roberta": ("roberta", {"type_vocab_size": 1, "layer_norm_eps": 1e-5, **BOS}),
    "xlm-roberta": ("xlm-roberta", {"type_vocab_size": 1, "layer_norm_eps": 1e-5, **BOS}),
    "distilbert": ("distilbert", {}),
    "mpnet": ("mpnet", {"layer_norm_eps": 1e-5, **BOS}),
    "electra": ("electra", {"type_vocab_size": 2}),
    "albert": ("albert", {"type_vocab_size": 2}),
    "modernbert": ("modernbert", {"pad_token_id": 0, "cls_token_id": 1, "sep_token_id": 2, "local_attention": 8}),
    "deberta-v2": (
        "deberta-v2",
        {
            "type_vocab_size": 0,
            "relative_attention": True,
            "position_buckets": 16,
            "pos_att_type": ["p2c", "c2p"],
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
            "position_biased_input": False,
        },
    ),
}
EAGER_ONLY = {"mpnet", "deberta-v2"}
HAS_TYPES = {"bert", "electra", "albert"}
HAS_POOLER = {"bert", "roberta", "xlm-roberta", "mpnet", "albert"}
HEADS = {
    "sequence": transformers.AutoModelForSequenceClassification,
    "token": transformers.AutoModelForTokenClassification,
    "question": transformers.AutoModelForQuestionAnswering,
    "mlm": transformers.AutoModelForMaskedLM,
}


def draw(rng, number):
    family = rng.choice(sorted(FAMILIES))
    kind, fixed = FAMILIES[family]
    attention = "eager" if family in EAGER_ONLY else rng.choice(["eager", "sdpa"])
    exporter = rng.choice(["torchscript", "torchscript", "dynamo", "dynamo-noopt"])
    if exporter == "torchscript":
        opset = rng.randint(14 if attention == "sdpa" or family == "modernbert" else 11, 20)
    else:
        opset = rng.randint(18, 21)
    heads = rng.choice([2, 4])
    hidden = rng.choice([32, 48, 64])
    sizes = {"vocab_size": VOCABULARY, "max_position_embeddings": POSITIONS}
    layers, inner = rng.choice([2, 2, 3]), hidden * rng.choice([2, 4])
    if kind == "distilbert":
        sizes |= {"dim": hidden, "n_layers": layers, "n_heads": heads, "hidden_dim": inner}
    else:
        sizes |= {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads}
        sizes |= {"intermediate_size": inner}
    if kind in ("electra", "albert"):
        sizes |= {"embedding_size": rng.choice([16, hidden])}
    if kind == "modernbert":
        sizes |= {"global_attn_every_n_layers": 2}
    activation = rng.choice(["gelu", "gelu", "gelu", "gelu_new"])
    if kind not in ("distilbert", "modernbert"):
        sizes |= {"hidden_act": activation}
    if kind == "mpnet":  # transformers computes 32 buckets whatever this setting says.
        sizes |= {"relative_attention_num_buckets": 32}
    head = rng.choice(["hidden", "hidden", "mean", "cls", "pooler", "sequence", "token", "question", "mlm"])
    if head == "pooler" and kind not in HAS_POOLER:
        head = "hidden"
    if head == "question" and kind == "modernbert" and attention == "eager":
        head = "token"
    dtype = "float16" if rng.random() < 0.08 else "float32"
    quantized = dtype == "float32" and rng.random() < 0.05
    folding = rng.random() < 0.8
    name = f"{number:03}-{family}-{head}-{attention}-{exporter}{opset}"
    name += {"float16": "-fp16", "float32": ""}[dtype] + ("-int8" if quantized else "")
    return {
        "name": name,
        "family": family,
        "model_type": kind,
        "attention": attention,
        "exporter": exporter,
        "opset": opset,
        "head": head,
        "dtype": dtype,
        "quantized": quantized,
        "folding": folding,
        "config": {**fixed, **sizes},
        "seed": rng.randrange(2**31),
    }


def model_of(case):
    config = transformers.AutoConfig.for_model(case["model_type"], **case["config"])
    factory = HEADS.get(case["head"], transformers.AutoModel)
    torch.manual_seed(case["seed"])
    model = factory.from_config(config, attn_implementation=case["attention"]).eval()
    with torch.no_grad():
        for key, value in sorted(model.named_parameters()):
            noise = torch.randn(value.shape)
            is_norm = value.dim() == 1 and key.endswith("weight")
            value.copy_(1 + 0.2 * noise if is_norm else 0.15 * noise)
    return model.half() if case["dtype"] == "float16" else model


def batches(case):
    rng = np.random.default_rng(case["seed"])
    masks = {
        "full": [[1] * 9, [1] * 9],
        "left": [[0] * 5 + [1] * 8, [1] * 13, [0] * 2 + [1] * 11],
        "right": [[1] * 16, [1] * 6 + [0] * 10],
    }
    for rows in masks.values():
        mask = np.array(rows, np.int64)
        ids = rng.integers(5, VOCABULARY, mask.shape, np.int64)
        feed = {"input_ids": np.where(mask == 1, ids, case["config"].get("pad_token_id", 0)), "attention_mask": mask}
        if case["model_type"] in HAS_TYPES:
            feed["token_type_ids"] = rng.integers(0, 2, mask.shape, np.int64)
        yield feed


def outputs_of(case):
    if case["head"] == "question":
        return {"start_logits": [0, 1], "end_logits": [0, 1]}
    if case["head"] in ("hidden", "token", "mlm"):
        return {"hidden" if case["head"] == "hidden" else "logits": [0, 1]}
    return {"logits" if case["head"] == "sequence" else "sentence_embedding": [0]}


def wrapper_of(case, names):
    model, head = model_of(case), case["head"]

    def compute(self, *values):
        feed = dict(zip(names, values))
        result = self.model(**feed)
        if head == "question":
            return result.start_logits, result.end_logits
        if head in HEADS:
            return result.logits
        if head == "pooler":
            return result.pooler_output
        hidden = result.last_hidden_state
        if head == "cls":
            return hidden[:, 0]
        if head == "mean":
            mask = feed["attention_mask"].unsqueeze(-1).to(hidden.dtype)
            mean = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-4)
            return torch.nn.functional.normalize(mean, dim=-1)
        return hidden

    # Both exporters name the inputs after the function's parameters.
    scope = {"compute": compute}
    exec(f"def forward(self, {', '.join(names)}): return compute(self, {', '.join(names)})", scope)
    wrapper = type("Wrapper", (torch.nn.Module,), {"forward": scope["forward"]})()
    wrapper.model = model
    return wrapper.eval()


def export(case, wrapper, feed, path):
    names, outputs = list(feed), outputs_of(case)
    example = tuple(map(torch.from_numpy, feed.values()))
    shared = dict(opset_version=case["opset"], input_names=names, output_names=list(outputs))
    if case["exporter"] == "torchscript":
        labels = ["batch", "sequence"]
        axes = {each: dict(enumerate(labels)) for each in names}
        axes |= {each: {axis: labels[axis] for axis in open_axes} for each, open_axes in outputs.items()}
        torch.onnx.export(
            wrapper, example, path, dynamo=False, dynamic_axes=axes, do_constant_folding=case["folding"], **shared
        )
        return
    dims = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    torch.onnx.export(
        wrapper,
        example,
        path,
        dynamo=True,
        optimize=case["exporter"] == "dynamo",
        dynamic_shapes=tuple(dims for _ in names),
        external_data=False,
        verbose=False,
        **shared,
    )


def stored(tensors):
    return {
        name: {
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "data": [int(x) if value.dtype.kind == "i" else float(f"{x:.9g}") for x in value.ravel()],
        }
        for name, value in tensors.items()
    }


def difference_at(mask, found, expected):
    """Largest difference at attended tokens. A token whose whole attention window is padding has no defined output."""
    differences = np.abs(found - expected)
    return float((differences[mask] if differences.shape[:2] == mask.shape else differences).max())


def make(case, folder):
    feeds = list(batches(case))
    names = list(feeds[0])
    wrapper = wrapper_of(case, names)
    wanted = []
    for feed in feeds:
        with torch.no_grad():
            result = wrapper(*map(torch.from_numpy, feed.values()))
        wanted.append([each.numpy() for each in (result if isinstance(result, tuple) else (result,))])
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "model.onnx")
        export(case, wrapper, feeds[0], path)
        if case["quantized"]:
            from onnxruntime import quantization

            source, path = path, os.path.join(temporary, "quantized.onnx")
            quantization.quantize_dynamic(source, path)
        model = onnx.load(path)
    for graph in [model.graph, *model.functions]:
        for node in graph.node:
            del node.metadata_props[:]
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    declared = [each.name for each in session.get_inputs()]
    inputs, outputs, difference = [], [], 0.0
    for feed, expected in zip(feeds, wanted):
        mask = feed["attention_mask"] == 1
        feed = {key: value for key, value in feed.items() if key in declared}
        found = session.run(None, feed)
        difference = max(difference, *(difference_at(mask, *pair) for pair in zip(found, expected)))
        inputs.append(stored(feed))
        outputs.append(stored(dict(zip([each.name for each in session.get_outputs()], found))))
    if not case["quantized"] and not difference <= TOLERANCES[case["dtype"]]:
        raise ValueError(f"onnxruntime differs from PyTorch by {difference}")
    out = Path(folder) / case["name"]
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    onnx.save(model, out / "model.onnx")
    facts = {**case, "framework_difference": difference, "expected_fused": None}
    (out / "case.json").write_text(json.dumps({**facts, "inputs": inputs, "outputs": outputs}))
    print(f"{case['name']}: {len(model.graph.node)} nodes, {difference:.1e}", flush=True)


if __name__ == "__main__":
    folder = sys.argv[1]
    part, parts = map(int, (sys.argv[2] if len(sys.argv) > 2 else "0/1").split("/"))
    generator = random.Random(SEED)
    cases = [draw(generator, number) for number in range(CASES)]
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    failures = {}
    for case in cases[part::parts]:
        try:
            make(case, folder)
        except Exception as error:  # A failure must not stop the other exports.
            failures[case["name"]] = f"{type(error).__name__}: {str(error)[:400]}"
            print(f"{case['name']} FAILED: {failures[case['name']]}", flush=True)
        (Path(folder) / f"failures.{part}.json").write_text(json.dumps(failures, indent=1))
