"""Computes the hidden states of two families whose code is not part of transformers: JinaBERT v2 and GTE ("new").

Written from the papers and from the published config.json files, independently of the SDK. Each function takes the keys
of config.json, the tensors by name, token ids [batch, sequence] and the attention mask of the same shape.
"""

import math

import torch
from torch.nn import functional

ACTIVATIONS = dict(gelu=functional.gelu, relu=functional.relu, silu=functional.silu)


def linear(tensors, name, x):
    return functional.linear(x, tensors[f"{name}.weight"], tensors.get(f"{name}.bias"))


def norm(tensors, name, x, keys):
    weight = tensors[f"{name}.weight"]
    return functional.layer_norm(x, weight.shape, weight, tensors[f"{name}.bias"], keys["layer_norm_eps"])


def split_heads(x, keys):
    heads = keys["num_attention_heads"]
    return x.unflatten(-1, (heads, x.shape[-1] // heads)).transpose(1, 2)


def attend(query, key, value, bias):
    """Queries, keys and values: [batch, heads, sequence, size]. The bias is added to the scores."""
    scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1]) + bias
    return (scores.softmax(-1) @ value).transpose(1, 2).flatten(2)


def padding_bias(mask):
    return (1 - mask[:, None, None, :].float()) * torch.finfo(torch.float32).min


def embed(tensors, prefix, keys, ids):
    x = functional.embedding(ids, tensors[f"{prefix}embeddings.word_embeddings.weight"])
    if keys["type_vocab_size"] > 0:
        x = x + tensors[f"{prefix}embeddings.token_type_embeddings.weight"][0]
    return norm(tensors, f"{prefix}embeddings.LayerNorm", x, keys)


def alibi_slopes(heads):
    """ALiBi's slopes: https://arxiv.org/abs/2108.12409, section 3, and its code for head counts that are no power of 2."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2 ** (-8 * (head + 1) / power) for head in range(power)]
    return slopes if power == heads else slopes + alibi_slopes(2 * power)[::2][: heads - power]


def jina_bert(keys, tensors, ids, mask):
    """JinaBERT v2 (https://arxiv.org/abs/2310.19923); with layer_norm_q, its variant qk-post-norm."""
    x = embed(tensors, "bert.", keys, ids)
    distance = (torch.arange(ids.shape[1])[:, None] - torch.arange(ids.shape[1])).abs()
    alibi = -torch.tensor(alibi_slopes(keys["num_attention_heads"]))[:, None, None] * distance
    bias = padding_bias(mask) + alibi
    activation = dict(geglu="gelu", reglu="relu").get(keys["feed_forward_type"], keys["hidden_act"])
    for index in range(keys["num_hidden_layers"]):
        layer = f"bert.encoder.layer.{index}"
        normalizes_queries = f"{layer}.attention.self.layer_norm_q.weight" in tensors
        query, key, value = (linear(tensors, f"{layer}.attention.self.{part}", x) for part in ("query", "key", "value"))
        if normalizes_queries:
            query = norm(tensors, f"{layer}.attention.self.layer_norm_q", query, keys)
            key = norm(tensors, f"{layer}.attention.self.layer_norm_k", key, keys)
        context = attend(*(split_heads(part, keys) for part in (query, key, value)), bias)
        attended = linear(tensors, f"{layer}.attention.output.dense", context) + x
        attended = norm(tensors, f"{layer}.attention.output.LayerNorm", attended, keys)
        if normalizes_queries:
            x = norm(tensors, f"{layer}.layer_norm_1", x + attended, keys)
            up, gate = linear(tensors, f"{layer}.mlp.up_gated_layer", x).chunk(2, -1)
            down = linear(tensors, f"{layer}.mlp.down_layer", ACTIVATIONS[activation](gate) * up)
            x = norm(tensors, f"{layer}.layer_norm_2", x + down, keys)
        elif keys["feed_forward_type"].endswith("glu"):
            gate, up = linear(tensors, f"{layer}.mlp.gated_layers", attended).chunk(2, -1)
            down = linear(tensors, f"{layer}.mlp.wo", ACTIVATIONS[activation](gate) * up)
            x = norm(tensors, f"{layer}.mlp.layernorm", attended + down, keys)
        else:
            inner = ACTIVATIONS[activation](linear(tensors, f"{layer}.intermediate.dense", attended))
            x = norm(tensors, f"{layer}.output.LayerNorm", linear(tensors, f"{layer}.output.dense", inner) + attended, keys)
    return x


def angles(keys, length):
    """Angles of the rotary embedding with NTK scaling (https://kexue.fm/archives/9706), [sequence, size / 2]."""
    size = keys["hidden_size"] // keys["num_attention_heads"]
    scaling = keys.get("rope_scaling") or dict(factor=1.0)
    factor, mixed = scaling["factor"], scaling.get("mixed_b")
    base = keys["rope_theta"] * (factor if mixed is None else 1)
    frequencies = 1.0 / (base ** (torch.arange(0, size, 2).float() / size))
    if mixed is None:
        frequencies = frequencies / factor ** (2 / size)
    else:
        slope = torch.tensor(factor).log() / (size / 2) ** mixed
        frequencies = frequencies / (slope * torch.arange(1, size // 2 + 1).float() ** mixed).exp()
    return torch.arange(length).float()[:, None] * frequencies


def rotate(x, by):
    first, second = x.chunk(2, -1)
    return torch.cat((first * by.cos() - second * by.sin(), second * by.cos() + first * by.sin()), -1)


def gte(keys, tensors, ids, mask):
    """GTE ("new"): BERT with a rotary embedding and gated activations, https://arxiv.org/abs/2407.19669"""
    x = embed(tensors, "new.", keys, ids)
    by = angles(keys, ids.shape[1])
    for index in range(keys["num_hidden_layers"]):
        layer = f"new.encoder.layer.{index}"
        if keys["pack_qkv"]:
            parts = linear(tensors, f"{layer}.attention.qkv_proj", x).chunk(3, -1)
        else:
            parts = [linear(tensors, f"{layer}.attention.{part}_proj", x) for part in "qkv"]
        query, key, value = (split_heads(part, keys) for part in parts)
        context = attend(rotate(query, by), rotate(key, by), value, padding_bias(mask))
        x = norm(tensors, f"{layer}.attn_ln", x + linear(tensors, f"{layer}.attention.o_proj", context), keys)
        up, gate = linear(tensors, f"{layer}.mlp.up_gate_proj", x).chunk(2, -1)
        down = linear(tensors, f"{layer}.mlp.down_proj", ACTIVATIONS[keys["hidden_act"]](gate) * up)
        x = norm(tensors, f"{layer}.mlp_ln", x + down, keys)
    return x
