"""Times a BERT with random weights in PyTorch, in half precision, compiled with CUDA graphs. Prints JSON.

Usage: torch_figures.py <layers> <width>
"""

import json
import statistics
import sys
import time

import torch
from transformers import BertConfig, BertModel

ROUNDS = 50

layers, width = map(int, sys.argv[1:])
if not torch.cuda.is_available():
    sys.exit("PyTorch finds no CUDA GPU")
config = BertConfig(
    num_hidden_layers=layers,
    hidden_size=width,
    num_attention_heads=width // 64,
    intermediate_size=4 * width,
)
model = BertModel(config, add_pooling_layer=False).half().cuda().eval()
compiled = torch.compile(model, mode="reduce-overhead", dynamic=False)


@torch.inference_mode()
def embed(ids):
    """Returns normalized means of the hidden states, as the region's graph does, in the CPU's memory."""
    hidden = compiled(input_ids=ids.cuda(), attention_mask=torch.ones_like(ids).cuda()).last_hidden_state
    return torch.nn.functional.normalize(hidden.float().mean(1), dim=1).cpu()


def milliseconds(texts):
    ids = torch.randint(1000, 30000, (texts, 128))
    for _ in range(10):
        embed(ids)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        embed(ids)
        times.append(1000 * (time.perf_counter() - start))
    return statistics.median(times)


print(json.dumps({"oneMs": milliseconds(1), "batchMs": milliseconds(64), "peakRssMB": 0}))
