"""Writes pickles/*.bin: tiny files of torch.save in many forms, and pickles.json: what torch reads from them.

`read` has the tensors of each file that can be read, `refused` the names of the files that cannot, and `opcodes` the opcodes
of Python's pickles. `tiny-bert.bin` and `tiny-bert.safetensors` are the same model. Needs torch, transformers and safetensors.
"""

import io
import json
import pathlib
import pickletools
import re
import zipfile

import torch
import transformers
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent / "pickles"
ALL_TYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
             "uint16", "uint32", "uint64")
# writePreparableCheckpoint in test/fixtures/tiny-bert.ts takes these sizes.
TINY = dict(
    vocab_size=96, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
    max_position_embeddings=32, type_vocab_size=2, initializer_range=0.2,
)


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = torch.nn.Linear(3, 2)
        self.norm = torch.nn.LayerNorm(2)

    def forward(self, x):
        return self.norm(self.dense(x))


def saved(value, **options):
    target = io.BytesIO()
    torch.save(value, target, **options)
    return target.getvalue()


def zipped_again(content, change=lambda name, data: data, method=zipfile.ZIP_STORED):
    """Writes an archive again, as another zip tool does, perhaps with another content."""
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(target, "w", method) as copy:
        for name in source.namelist():
            copy.writestr(zipfile.ZipInfo(name), change(name, source.read(name)), method)
    return target.getvalue()


def saved_before_1_6(value):
    """Writes the format of PyTorch before 1.6. It names storages by their addresses, which are replaced."""
    content = saved(value, _use_new_zipfile_serialization=False)
    return re.sub(rb"\d{8,}", lambda address: b"1" * len(address[0]), content)


def views():
    table = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    cube = torch.arange(24, dtype=torch.int16).reshape(2, 3, 4)
    return {
        "whole": table, "tied": table, "transposed": table.T, "row": table[2], "column": table[:, 1],
        "steps": table[::2, 1::2], "permuted": cube.permute(2, 0, 1), "one axis": cube[:1].transpose(0, 2),
        "scalar": table[3, 5], "empty": torch.zeros(0, 3), "expanded within": cube[0, 0, :2].expand(3, 2),
        "unusual strides": torch.ones(5).as_strided((1, 5), (99, 1)),
    }


def readable():
    small = Small()
    yield "state-dict", saved(small.state_dict())
    yield "parameters", saved(dict(small.named_parameters()))
    yield "types", saved({name: torch.tensor([0, 1, 1], dtype=getattr(torch, name)) for name in ALL_TYPES})
    yield "views", saved(views())
    # More than 256 values in the memo.
    yield "many", saved({f"layer.{i}.weight": part for i, part in enumerate(torch.arange(120.0).split(2))})
    yield "protocol-3", saved(small.state_dict(), pickle_protocol=3)
    yield "no-byte-order", saved(small.state_dict(), _disable_byteorder_record=True)
    yield "other-zip", zipped_again(saved(small.state_dict()))


def refused():
    small = Small()
    state = small.state_dict()
    yield "before-1.6", saved_before_1_6({"weight": torch.ones(2)})
    yield "big-endian", zipped_again(saved(state), lambda name, data: b"big" if name.endswith("byteorder") else data)
    yield "compressed", zipped_again(saved(state), method=zipfile.ZIP_DEFLATED)
    yield "nested", saved({"state_dict": state, "epoch": 3})
    yield "number", saved({**state, "epoch": 3})
    yield "tensor", saved(torch.ones(2))
    yield "list", saved([torch.ones(2)])
    yield "module", saved(small)
    yield "expanded", saved({"weight": torch.ones(1).expand(1000, 1000)})
    yield "negative", saved({"weight": torch._neg_view(torch.ones(2))})
    yield "complex", saved({"weight": torch.ones(2, dtype=torch.complex64)})
    yield "float8", saved({"weight": torch.ones(2).to(torch.float8_e4m3fn)})
    yield "sparse", saved({"weight": torch.eye(2).to_sparse()})
    yield "quantized", saved({"weight": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)})
    yield "protocol-4", saved(state, pickle_protocol=4)
    script = io.BytesIO()
    torch.jit.save(torch.jit.trace(small, torch.ones(1, 3)), script)
    yield "torchscript", script.getvalue()


def described(tensor):
    return dict(dtype=str(tensor.dtype).removeprefix("torch."), shape=list(tensor.shape),
                values=tensor.flatten().to(torch.float64).tolist())


def main():
    torch.manual_seed(0)
    FOLDER.mkdir(exist_ok=True)
    found = dict(read={}, refused=[])
    for name, content in readable():
        (FOLDER / f"{name}.bin").write_bytes(content)
        tensors = torch.load(io.BytesIO(content), weights_only=True)
        found["read"][name] = {key: described(tensor.detach()) for key, tensor in tensors.items()}
    for name, content in refused():
        (FOLDER / f"{name}.bin").write_bytes(content)
        found["refused"].append(name)
    found["opcodes"] = {opcode.name: ord(opcode.code) for opcode in pickletools.opcodes}
    (FOLDER.parent / "pickles.json").write_text(json.dumps(found) + "\n")

    config = transformers.BertConfig(**TINY)
    bert = transformers.BertModel(config, add_pooling_layer=False).half()
    torch.save(bert.state_dict(), FOLDER / "tiny-bert.bin")
    save_file(bert.state_dict(), FOLDER / "tiny-bert.safetensors")


if __name__ == "__main__":
    main()
