"""Embeds texts in float32 with sentence-transformers, and exports the encoder to ONNX:

python authors.py <model folder> <texts.json> <out folder>

texts.json has lists of texts by name. Writes <name>.json with the token ids of each text, <name>.f32 with the vectors as
float32 in the order of the texts, and model.onnx. Prints the versions and the maximum length as JSON.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel

PACKAGES = ["sentence-transformers", "transformers", "torch"]
INPUTS = ["input_ids", "attention_mask", "token_type_ids"]

folder, texts, out = sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), Path(sys.argv[3])
# These vectors are not timed: threads that wait for each other only disturb a busy machine.
torch.set_num_threads(1)
model = SentenceTransformer(folder, device="cpu", model_kwargs={"dtype": torch.float32})
for name, each in texts.items():
    ids = [model.preprocess([text])["input_ids"][0].tolist() for text in each]
    # One text at a time: padding would change the last bits of the vectors.
    vectors = model.encode(each, batch_size=1, convert_to_numpy=True, show_progress_bar=False)
    (out / f"{name}.json").write_text(json.dumps(ids))
    vectors.astype("<f4").tofile(out / f"{name}.f32")


class HiddenStates(torch.nn.Module):
    """Names the inputs, and leaves out the outputs that no sentence vector needs."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids, attention_mask, token_type_ids):
        inputs = dict(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return self.encoder(**inputs).last_hidden_state


# onnxruntime's optimizer fuses all of this form: attention in single operators, and the older of PyTorch's exporters.
encoder = AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
example = torch.ones(2, 7, dtype=torch.int64)
torch.onnx.export(
    HiddenStates(encoder),
    (example, example, torch.zeros_like(example)),
    str(out / "model.onnx"),
    input_names=INPUTS,
    output_names=["last_hidden_state"],
    dynamic_axes={name: {0: "batch", 1: "tokens"} for name in [*INPUTS, "last_hidden_state"]},
    opset_version=17,
    dynamo=False,
)
print(json.dumps({"maxTokens": model.max_seq_length, "versions": {name: version(name) for name in PACKAGES}}))
