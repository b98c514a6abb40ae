"""Writes families.json: the logits of tiny classifiers of the families that classifiers.py leaves out.

The file has the same format as classifiers.json. EuroBERT, DeBERTa-v2 and GTE come from transformers. JinaBERT and GTE in
its first format ("new") are not part of transformers; remote_code.py computes them. Needs torch and transformers.
"""

import torch
from classifiers import IDS, case, drawn, write
from remote_code import gte, jina_bert, linear
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

SIZES = dict(
    vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
    max_position_embeddings=16, pad_token_id=1,
)
LABELS = dict(id2label={"0": "no", "1": "maybe", "2": "yes"})
HIDDEN, INNER, VOCABULARY = SIZES["hidden_size"], SIZES["intermediate_size"], SIZES["vocab_size"]
TOKENS = dict(bos_token_id=0, eos_token_id=2, id2label={0: "no", 1: "maybe", 2: "yes"})
ROPE = dict(rope_type="default", rope_theta=250.0)
RELATIVE = dict(relative_attention=True, position_buckets=4, norm_rel_ebd="layer_norm", share_att_key=True,
                pos_att_type="p2c|c2p", position_biased_input=False, max_relative_positions=-1)
OF_TRANSFORMERS = {
    "gte": ("gte", SIZES | TOKENS | dict(rope_parameters=ROPE)),
    "gte, no token types": ("gte", SIZES | TOKENS | dict(rope_parameters=ROPE, type_vocab_size=0, hidden_act="silu")),
    "eurobert": ("eurobert", SIZES | TOKENS | dict(num_key_value_heads=2, rope_parameters=ROPE)),
    "eurobert, bos": ("eurobert", SIZES | TOKENS | dict(classifier_pooling="bos", rope_parameters=ROPE)),
    "eurobert, mean": ("eurobert", SIZES | TOKENS | dict(
        classifier_pooling="mean", num_key_value_heads=1, attention_bias=True, mlp_bias=True, rope_parameters=ROPE)),
    "deberta-v2": ("deberta-v2", SIZES | TOKENS | RELATIVE),
    "deberta-v2, own projections": ("deberta-v2", SIZES | TOKENS | RELATIVE | dict(
        share_att_key=False, norm_rel_ebd="none", position_buckets=-1, max_relative_positions=5, type_vocab_size=2,
        position_biased_input=True, pooler_hidden_act="relu")),
    "deberta-v2, c2p": ("deberta-v2", SIZES | TOKENS | RELATIVE | dict(pos_att_type=["c2p"], share_att_key=False)),
    "deberta-v2, p2c": ("deberta-v2", SIZES | TOKENS | RELATIVE | dict(pos_att_type=["p2c"])),
    "deberta-v2, absolute": ("deberta-v2", SIZES | TOKENS),
}

JINA = SIZES | LABELS | dict(
    model_type="bert", architectures=["JinaBertForSequenceClassification"], hidden_act="gelu", layer_norm_eps=1e-12,
    type_vocab_size=2, position_embedding_type="alibi", feed_forward_type="geglu", emb_pooler="mean",
    auto_map={"AutoModel": "jinaai/jina-bert-implementation--modeling_bert.JinaBertModel"},
)
NEW = SIZES | LABELS | dict(
    model_type="new", architectures=["NewForSequenceClassification"], hidden_act="gelu", layer_norm_type="layer_norm",
    layer_norm_eps=1e-12, type_vocab_size=1, position_embedding_type="rope", rope_theta=20.0, pack_qkv=True,
    rope_scaling=dict(factor=8.0, type="ntk"), logn_attention_clip1=False, logn_attention_scale=False,
    unpad_inputs=False, use_memory_efficient_attention=False,
)


def with_bias(name, outputs, inputs):
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def normalization(name):
    return {f"{name}.weight": (HIDDEN,), f"{name}.bias": (HIDDEN,)}


def embeddings(prefix, keys):
    shapes = {f"{prefix}embeddings.word_embeddings.weight": (VOCABULARY, HIDDEN)}
    if keys["type_vocab_size"] > 0:
        shapes |= {f"{prefix}embeddings.token_type_embeddings.weight": (keys["type_vocab_size"], HIDDEN)}
    return shapes | normalization(f"{prefix}embeddings.LayerNorm")


def jina_shapes(keys, normalizes_queries):
    shapes = embeddings("bert.", keys)
    for index in range(keys["num_hidden_layers"]):
        layer = f"bert.encoder.layer.{index}"
        for part in ("query", "key", "value"):
            shapes |= with_bias(f"{layer}.attention.self.{part}", HIDDEN, HIDDEN)
        shapes |= with_bias(f"{layer}.attention.output.dense", HIDDEN, HIDDEN)
        shapes |= normalization(f"{layer}.attention.output.LayerNorm")
        if normalizes_queries:
            for name in ("attention.self.layer_norm_q", "attention.self.layer_norm_k", "layer_norm_1", "layer_norm_2"):
                shapes |= normalization(f"{layer}.{name}")
            shapes |= {f"{layer}.mlp.up_gated_layer.weight": (2 * INNER, HIDDEN)}
            shapes |= with_bias(f"{layer}.mlp.down_layer", HIDDEN, INNER)
        elif keys["feed_forward_type"].endswith("glu"):
            shapes |= {f"{layer}.mlp.gated_layers.weight": (2 * INNER, HIDDEN)}
            shapes |= with_bias(f"{layer}.mlp.wo", HIDDEN, INNER) | normalization(f"{layer}.mlp.layernorm")
        else:
            shapes |= with_bias(f"{layer}.intermediate.dense", INNER, HIDDEN)
            shapes |= with_bias(f"{layer}.output.dense", HIDDEN, INNER) | normalization(f"{layer}.output.LayerNorm")
    return shapes | head("bert.")


def gte_shapes(keys):
    shapes = embeddings("new.", keys)
    for index in range(keys["num_hidden_layers"]):
        layer = f"new.encoder.layer.{index}"
        if keys["pack_qkv"]:
            shapes |= with_bias(f"{layer}.attention.qkv_proj", 3 * HIDDEN, HIDDEN)
        else:
            for part in "qkv":
                shapes |= with_bias(f"{layer}.attention.{part}_proj", HIDDEN, HIDDEN)
        shapes |= with_bias(f"{layer}.attention.o_proj", HIDDEN, HIDDEN) | normalization(f"{layer}.attn_ln")
        shapes |= {f"{layer}.mlp.up_gate_proj.weight": (2 * INNER, HIDDEN)}
        shapes |= with_bias(f"{layer}.mlp.down_proj", HIDDEN, INNER) | normalization(f"{layer}.mlp_ln")
    return shapes | head("new.")


def head(prefix):
    return with_bias(f"{prefix}pooler.dense", HIDDEN, HIDDEN) | with_bias("classifier", len(LABELS["id2label"]), HIDDEN)


def remote_case(encoder, prefix, keys, shapes):
    tensors = drawn(shapes)
    ids = torch.tensor(IDS)
    states = encoder(keys, tensors, ids, (ids != 1).long())
    logits = linear(tensors, "classifier", linear(tensors, f"{prefix}pooler.dense", states[:, 0]).tanh())
    return dict(
        config=keys,
        tensors=" ".join(f"{name}={'x'.join(map(str, shape))}" for name, shape in shapes.items()),
        logits=[[round(float(value), 6) for value in row] for row in logits],
    )


def jina_case(normalizes_queries=False, **changes):
    keys = JINA | changes
    return remote_case(jina_bert, "bert.", keys, jina_shapes(keys, normalizes_queries))


def new_case(**changes):
    keys = NEW | changes
    return remote_case(gte, "new.", keys, gte_shapes(keys))


def buckets(count, size):
    """Returns the buckets of the distances 0 to size − 1."""
    return make_log_bucket_position(torch.arange(size), count, size).long().tolist()


if __name__ == "__main__":
    cases = {name: case(*arguments) for name, arguments in OF_TRANSFORMERS.items()} | {
        "jina, geglu": jina_case(),
        "jina, reglu": jina_case(feed_forward_type="reglu", num_attention_heads=1),
        "jina, no gate": jina_case(feed_forward_type="original", num_hidden_layers=1),
        "jina, qk-post-norm": jina_case(normalizes_queries=True, num_attention_heads=2),
        "new": new_case(),
        "new, mixed scaling": new_case(
            rope_scaling=dict(factor=4.0, type="ntk", mixed_b=0.7), pack_qkv=False, type_vocab_size=0, hidden_act="silu"),
        "new, no scaling": new_case(rope_scaling=None, type_vocab_size=2),
    }
    write("families.json", cases, buckets=[dict(buckets=b, positions=p, of=buckets(b, p)) for b, p in
                                          ((4, 16), (32, 128), (256, 512))])
