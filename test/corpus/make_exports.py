"""
Makes test/corpus/exports: models with random weights, written by the usual exporters.

Each case is a folder with `model.onnx` and `case.json`: inputs, and the outputs of onnxruntime without optimizations. The
outputs must agree with those of the framework. The exporters get the Apache-2.0 model classes of transformers. The weights
come from a seeded generator, so the files contain no training data.

Each group needs its own environment, with Python 3.11:

    pip install --no-deps torch==2.13.0+cpu      # groups torch, torch-transformers4, torch-old
    torch                transformers==5.23.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.30.0
    torch-transformers4  transformers==4.57.6 optimum-onnx==0.1.0 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.30.0
    torch-old            transformers==4.36.2 onnx==1.23.2 onnxscript==0.7.2 onnxruntime==1.30.0 numpy<2
    tensorflow           tensorflow-cpu==2.15.1 tf2onnx==1.16.1 transformers==4.36.2 onnx==1.17.0 onnxruntime==1.30.0

    python test/corpus/make_exports.py torch test/corpus/exports [name ...]

The script removes the notes that the dynamo exporter adds to nodes, which are two thirds of a file. One case keeps them,
but without the Python stack traces, which contain paths of the machine.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["HF_HUB_OFFLINE"] = "1"

import numpy as np
import onnx
import onnxruntime as ort

SEED = 20261122
VOCABULARY, HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 60, 16, 2, 2, 32, 24
STACK_TRACE = "pkg.torch.onnx.stack_trace"
KEEPS_NOTES = "bert-sdpa-dynamo20"
# Tolerance for another order of float32 sums, on outputs with magnitudes of a few units.
TOLERANCE = 2e-5

SIZES = dict(
    vocab_size=VOCABULARY,
    hidden_size=HIDDEN,
    num_hidden_layers=LAYERS,
    num_attention_heads=HEADS,
    intermediate_size=INNER,
    max_position_embeddings=POSITIONS,
)
CONFIGS = {
    "bert": SIZES,
    "electra": {**SIZES, "embedding_size": 8},
    "albert": {**SIZES, "embedding_size": 8},
    "roberta": {**SIZES, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1},
    "xlm-roberta": {**SIZES, "type_vocab_size": 1, "layer_norm_eps": 1e-5, "pad_token_id": 1},
    "mpnet": {**SIZES, "layer_norm_eps": 1e-5, "pad_token_id": 1},
    "distilbert": dict(
        vocab_size=VOCABULARY,
        dim=HIDDEN,
        n_layers=LAYERS,
        n_heads=HEADS,
        hidden_dim=INNER,
        max_position_embeddings=POSITIONS,
    ),
    "modernbert": {
        **SIZES,
        "global_attn_every_n_layers": 2,
        "local_attention": 8,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "cls_token_id": 1,
        "sep_token_id": 2,
    },
    "nomic_bert": {**SIZES, "type_vocab_size": 2},
    "roformer": {**SIZES, "embedding_size": HIDDEN},
    # One layer: random weights amplify the rounding of int8 in each layer.
    "eurobert": {
        **SIZES,
        "num_hidden_layers": 1,
        "num_key_value_heads": 1,
        "pad_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    },
    "squeezebert": {**SIZES, "embedding_size": HIDDEN},
    "convbert": {**SIZES, "embedding_size": HIDDEN, "num_attention_heads": 4, "conv_kernel_size": 3},
}


def batches(model_type):
    """Returns three sets of inputs: with right padding, without padding, and with padding on both sides."""
    random = np.random.default_rng(SEED)
    masks = [
        [[1] * 8, [1] * 5 + [0] * 3],
        [[1] * 5],
        [[1] * 11, [1] * 6 + [0] * 5, [0] * 4 + [1] * 7],
    ]
    for rows in masks:
        mask = np.array(rows, np.int64)
        ids = random.integers(5, VOCABULARY, mask.shape, np.int64)
        padding = CONFIGS[model_type].get("pad_token_id", 0)
        batch = {"input_ids": np.where(mask == 1, ids, padding), "attention_mask": mask}
        if CONFIGS[model_type].get("type_vocab_size", 2) == 2 and model_type in (
            "bert",
            "electra",
            "albert",
            "nomic_bert",
        ):
            batch["token_type_ids"] = random.integers(0, 2, mask.shape, np.int64)
        yield batch


def stored(tensors):
    return {
        name: {
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "data": [int(x) if value.dtype.kind == "i" else float(f"{x:.7g}") for x in value.ravel()],
        }
        for name, value in tensors.items()
    }


def finish(folder, name, path, feeds, wanted, facts, compared=3):
    """Writes a case. Checks first that onnxruntime and the framework agree on the first `compared` inputs."""
    model = onnx.load(path)
    for graph in [model.graph, *model.functions]:
        for node in graph.node:
            kept = [each for each in node.metadata_props if name == KEEPS_NOTES and each.key != STACK_TRACE]
            del node.metadata_props[:]
            node.metadata_props.extend(kept)
    out = Path(folder) / name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    onnx.save(model, out / "model.onnx")

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(out / "model.onnx"), options, providers=["CPUExecutionProvider"])
    declared = {each.name: each.type for each in session.get_inputs()}
    inputs, outputs, difference = [], [], 0.0
    for feed, expected in zip(feeds, wanted):
        feed = {
            key: value.astype(np.int32 if "int32" in declared[key] else np.int64)
            for key, value in feed.items()
            if key in declared
        }
        found = dict(zip([each.name for each in session.get_outputs()], session.run(None, feed)))
        if expected is not None and len(inputs) < compared:
            difference = max(difference, *(float(np.abs(found[key] - expected[key]).max()) for key in expected))
        inputs.append(stored(feed))
        outputs.append(stored(found))
    if difference > TOLERANCE:
        raise ValueError(f"{name}: onnxruntime differs from the framework by {difference}")
    case = {
        "name": name,
        **facts,
        "opset": max(each.version for each in model.opset_import if each.domain in ("", "ai.onnx")),
        "dtype": "float32",
        "framework_difference": float(f"{difference:.2g}"),
    }
    lists = ",\n".join(
        f' "{key}": [{separator.join(json.dumps(each, separators=(",", ":")) for each in value)}]'
        for key, value, separator in [("inputs", inputs, ",\n  "), ("outputs", outputs, ",\n  ")]
    )
    text = json.dumps(case, indent=1)[:-2] + ",\n" + lists + "\n}\n"
    (out / "case.json").write_text(text)
    print(f"{name}: {len(model.graph.node)} nodes, {(out / 'model.onnx').stat().st_size >> 10} KiB, {difference:.1e}")


# ---------------------------------------------------------------- PyTorch


def torch_model(model_type, task, attention, sizes):
    import torch
    import transformers

    config = transformers.AutoConfig.for_model(model_type, **{**CONFIGS[model_type], **sizes})
    if attention:
        config._attn_implementation = attention
    if model_type == "modernbert":
        config.reference_compile = False
    kinds = {"base": transformers.AutoModel, "seq-cls": transformers.AutoModelForSequenceClassification}
    keywords = {"attn_implementation": attention} if attention else {}
    model = kinds[task].from_config(config, **keywords).eval()
    torch.manual_seed(SEED)
    with torch.no_grad():
        for key, value in sorted(model.named_parameters()):
            random = torch.randn(value.shape)
            is_norm = value.dim() == 1 and key.endswith("weight")
            value.copy_(1 + 0.2 * random if is_norm else 0.3 * random)
    return model


def torch_wrapper(model, names, task):
    import torch

    class Wrapper(torch.nn.Module):
        """Takes inputs by position, and returns one tensor."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *values):
            result = self.model(**dict(zip(names, values)))
            return result.logits if task == "seq-cls" else result.last_hidden_state

    # Both exporters name the inputs after the function's parameters.
    class Named(Wrapper):
        pass

    parameters = ", ".join(names)
    scope = {"Wrapper": Wrapper}
    exec(f"def forward(self, {parameters}): return Wrapper.forward(self, {parameters})", scope)
    Named.forward = scope["forward"]
    return Named().eval()


def fake_quantized(model, per_channel):
    """Adds fake quantization of inputs and weights to linear layers, like quantization-aware training."""
    import torch

    class Quantized(torch.nn.Module):
        def __init__(self, linear):
            super().__init__()
            self.linear = linear
            weight = linear.weight.detach()
            self.register_buffer("input_scale", torch.tensor(0.05))
            largest = weight.abs().amax(dim=1) if per_channel else weight.abs().max()
            self.register_buffer("weight_scale", largest / 127)
            self.register_buffer("weight_zero", torch.zeros_like(self.weight_scale, dtype=torch.int32))

        def forward(self, x):
            x = torch.fake_quantize_per_tensor_affine(x, float(self.input_scale), 0, -128, 127)
            if per_channel:
                weight = torch.fake_quantize_per_channel_affine(
                    self.linear.weight, self.weight_scale, self.weight_zero, 0, -128, 127
                )
            else:
                weight = torch.fake_quantize_per_tensor_affine(
                    self.linear.weight, float(self.weight_scale), 0, -128, 127
                )
            return torch.nn.functional.linear(x, weight, self.linear.bias)

    for parent in list(model.modules()):
        for key, child in list(parent.named_children()):
            if isinstance(child, torch.nn.Linear):
                setattr(parent, key, Quantized(child))
    return model


def export_torch(name, folder, model_type, exporter, opset, attention="eager", task="base", sizes={}, quantize=None):
    import torch
    import transformers

    feeds = list(batches(model_type))
    names = list(feeds[0])
    model = torch_model(model_type, task, attention, sizes)
    if quantize in ("qat-per-tensor", "qat-per-channel"):
        model = fake_quantized(model, quantize == "qat-per-channel")
    wrapper = torch_wrapper(model, names, task)
    result = "logits" if task == "seq-cls" else "last_hidden_state"
    with torch.no_grad():
        wanted = [{result: wrapper(*map(torch.from_numpy, feed.values())).numpy()} for feed in feeds]
    axes = {each: {0: "batch", 1: "sequence"} for each in names}
    example = tuple(map(torch.from_numpy, feeds[0].values()))
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "model.onnx")
        if exporter == "dynamo":
            dims = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
            torch.onnx.export(
                wrapper,
                example,
                path,
                dynamo=True,
                opset_version=opset,
                input_names=names,
                output_names=[result],
                dynamic_shapes=tuple(dims for _ in names),
                external_data=False,
                verbose=False,
            )
        else:
            outputs = {0: "batch"} if task == "seq-cls" else {0: "batch", 1: "sequence"}
            torch.onnx.export(
                wrapper,
                example,
                path,
                dynamo=False,
                opset_version=opset,
                input_names=names,
                output_names=[result],
                dynamic_axes={**axes, result: outputs},
                do_constant_folding=True,
            )
        if quantize in ("static", "dynamic"):
            path = quantized_by_onnxruntime(path, feeds, quantize)
            wanted = [None] * len(feeds)
        facts = {
            "exporter": f"torch.onnx.export, {exporter}",
            "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
            "model_type": model_type,
            "task": task,
            "attention": attention,
            **({"quantized": quantize} if quantize else {}),
            "config": {**CONFIGS[model_type], **sizes},
        }
        finish(folder, name, path, feeds, wanted, facts)


def quantized_by_onnxruntime(path, feeds, how):
    from onnxruntime import quantization

    result = path.replace("model.onnx", "quantized.onnx")
    if how == "dynamic":
        quantization.quantize_dynamic(path, result, op_types_to_quantize=["MatMul", "Gather"])
        return result

    class Reader(quantization.CalibrationDataReader):
        def __init__(self):
            self.rest = iter(feeds)

        def get_next(self):
            return next(self.rest, None)

    quantization.quantize_static(
        path,
        result,
        Reader(),
        quant_format=quantization.QuantFormat.QDQ,
        op_types_to_quantize=["MatMul"],
        per_channel=True,
    )
    return result


def export_optimum(name, folder, model_type, task="base", sizes={}, level=None):
    import torch
    import transformers
    from optimum.exporters.onnx import main_export

    feeds = list(batches(model_type))
    model = torch_model(model_type, task, None, sizes)
    result = "logits" if task == "seq-cls" else "last_hidden_state"
    with torch.no_grad():
        wanted = [
            {result: getattr(model(**{key: torch.from_numpy(value) for key, value in feed.items()}), result).numpy()}
            for feed in feeds
        ]
    with tempfile.TemporaryDirectory() as temporary:
        source, target = os.path.join(temporary, "source"), os.path.join(temporary, "target")
        model.save_pretrained(source)
        main_export(
            source,
            target,
            task={"base": "feature-extraction", "seq-cls": "text-classification"}[task],
            optimize=level,
            do_validation=False,
        )
        facts = {
            "exporter": f"optimum.exporters.onnx{f', {level}' if level else ''}",
            "versions": {"torch": torch.__version__, "transformers": transformers.__version__, "optimum-onnx": "0.1.0"},
            "model_type": model_type,
            "task": task,
            "attention": "sdpa",
            "config": {**CONFIGS[model_type], **sizes},
        }
        # The last set has left padding. The operators of onnxruntime that level O2 inserts do not support it.
        compared = 2 if level else 3
        finish(folder, name, os.path.join(target, "model.onnx"), feeds, wanted, facts, compared)


# ------------------------------------------------------------- TensorFlow


def export_tensorflow(name, folder, model_type, opset, task="base", sizes={}):
    import tensorflow as tf
    import tf2onnx
    import transformers

    kinds = {
        "base": transformers.TFAutoModel,
        "seq-cls": transformers.TFAutoModelForSequenceClassification,
    }
    config = transformers.AutoConfig.for_model(model_type, **{**CONFIGS[model_type], **sizes})
    model = kinds[task].from_config(config)
    feeds = [{key: value.astype(np.int32) for key, value in feed.items()} for feed in batches(model_type)]
    model(feeds[0])
    random = np.random.default_rng(SEED)
    for variable in model.weights:
        drawn = random.standard_normal(variable.shape).astype(np.float32)
        variable.assign(1 + 0.2 * drawn if "gamma" in variable.name else 0.3 * drawn)
    result = "logits" if task == "seq-cls" else "last_hidden_state"
    signature = [{key: tf.TensorSpec([None, None], tf.int32, name=key) for key in feeds[0]}]
    function = tf.function(lambda batch: {result: model(batch)[result]}, input_signature=signature)
    wanted = [{result: function(feed)[result].numpy()} for feed in feeds]
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "model.onnx")
        tf2onnx.convert.from_function(function, input_signature=signature, opset=opset, output_path=path)
        facts = {
            "exporter": "tf2onnx.convert.from_function",
            "versions": {
                "tensorflow": tf.__version__,
                "tf2onnx": tf2onnx.__version__,
                "transformers": transformers.__version__,
            },
            "model_type": model_type,
            "task": task,
            "attention": "eager",
            "config": {**CONFIGS[model_type], **sizes},
        }
        finish(folder, name, path, feeds, wanted, facts)


GROUPS = {
    "torch": [
        (export_torch, "bert-eager-legacy11", "bert", "legacy", 11),
        (export_torch, "bert-eager-legacy17", "bert", "legacy", 17),
        (export_torch, "bert-sdpa-legacy14", "bert", "legacy", 14, "sdpa"),
        (export_torch, "bert-eager-dynamo20", "bert", "dynamo", 20),
        (export_torch, "bert-sdpa-dynamo20", "bert", "dynamo", 20, "sdpa"),
        (export_torch, "bert-sdpa-dynamo23", "bert", "dynamo", 23, "sdpa"),
        (export_torch, "bert-classifier-sdpa-dynamo20", "bert", "dynamo", 20, "sdpa", "seq-cls"),
        (export_torch, "bert-tanh-gelu-eager-legacy14", "bert", "legacy", 14, "eager", "base", {"hidden_act": "gelu_new"}),
        (export_torch, "distilbert-eager-legacy14", "distilbert", "legacy", 14),
        (export_torch, "distilbert-sdpa-dynamo20", "distilbert", "dynamo", 20, "sdpa"),
        (export_torch, "roberta-eager-legacy17", "roberta", "legacy", 17),
        (export_torch, "roberta-sdpa-dynamo20", "roberta", "dynamo", 20, "sdpa"),
        (export_torch, "xlm-roberta-eager-legacy14", "xlm-roberta", "legacy", 14),
        (export_torch, "albert-sdpa-dynamo20", "albert", "dynamo", 20, "sdpa"),
        (export_torch, "electra-eager-legacy14", "electra", "legacy", 14),
        (export_torch, "mpnet-eager-legacy14", "mpnet", "legacy", 14),
        (export_torch, "modernbert-sdpa-legacy17", "modernbert", "legacy", 17, "sdpa"),
        (export_torch, "modernbert-eager-dynamo20", "modernbert", "dynamo", 20),
        (export_torch, "nomic-bert-sdpa-dynamo20", "nomic_bert", "dynamo", 20, "sdpa"),
        (export_torch, "roformer-eager-legacy14", "roformer", "legacy", 14),
        (export_torch, "roformer-eager-dynamo20", "roformer", "dynamo", 20),
        (export_torch, "eurobert-sdpa-legacy17", "eurobert", "legacy", 17, "sdpa"),
        (export_torch, "eurobert-eager-dynamo20", "eurobert", "dynamo", 20),
        (export_torch, "squeezebert-eager-legacy14", "squeezebert", "legacy", 14),
        (export_torch, "squeezebert-eager-dynamo20", "squeezebert", "dynamo", 20),
        (export_torch, "convbert-eager-legacy17", "convbert", "legacy", 17),
        (export_torch, "convbert-eager-dynamo20", "convbert", "dynamo", 20),
        (export_torch, "bert-qat-eager-legacy17", "bert", "legacy", 17, "eager", "base", {}, "qat-per-channel"),
        (export_torch, "distilbert-qat-eager-legacy13", "distilbert", "legacy", 13, "eager", "base", {}, "qat-per-tensor"),
        (export_torch, "bert-qdq-eager-legacy17", "bert", "legacy", 17, "eager", "base", {}, "static"),
        (export_torch, "bert-dynamic-sdpa-dynamo20", "bert", "dynamo", 20, "sdpa", "base", {}, "dynamic"),
    ],
    "torch-transformers4": [
        (export_torch, "bert-eager-transformers4-dynamo20", "bert", "dynamo", 20),
        (export_optimum, "bert-optimum", "bert"),
        (export_optimum, "bert-optimum-o2", "bert", "base", {}, "O2"),
        (export_optimum, "electra-classifier-optimum", "electra", "seq-cls"),
        (export_optimum, "modernbert-optimum", "modernbert"),
    ],
    "torch-old": [
        (export_torch, "bert-transformers436-legacy12", "bert", "legacy", 12, None),
        (export_torch, "distilbert-transformers436-legacy13", "distilbert", "legacy", 13, None),
        (export_torch, "mpnet-transformers436-legacy13", "mpnet", "legacy", 13, None),
    ],
    "tensorflow": [
        (export_tensorflow, "bert-tf2onnx15", "bert", 15),
        (export_tensorflow, "bert-classifier-tf2onnx13", "bert", 13, "seq-cls"),
        (export_tensorflow, "distilbert-tf2onnx15", "distilbert", 15),
    ],
}

if __name__ == "__main__":
    _, group, out, *only = sys.argv
    for export, name, *options in GROUPS[group]:
        if only and name not in only:
            continue
        try:
            export(name, out, *options)
        except Exception as error:  # A failure must not stop the other exports.
            print(f"{name} FAILED: {type(error).__name__}: {str(error)[:600]}", file=sys.stderr)
