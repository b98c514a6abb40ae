"""Writes settings.json: what sentence-transformers and transformers answer for tiny model folders that say one thing more than usual.

test/fixtures/settings-case.ts writes the same folders. Run it with each version of the libraries (4.57 with 5.7, 5.24 with 6.2): each adds
its answers for folders that it wrote. Needs torch, transformers and sentence-transformers.
"""

import json
import tempfile
from pathlib import Path

import classifiers
import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer
from tiny_tokenizers import byte_pairs, tokenizer_of, unigrams, word_piece
from transformers import AutoConfig, pipeline

FILE = Path(__file__).parent / "settings.json"
VERSION = transformers.__version__
TEXTS = ["Anna travels to Paris.", "Where does Maria live?", "acme corp works, " * 12, "OPEN the café in New York!"]
PAIRS = [["Where does Anna work?", "Anna works for Acme Corp."], ["live in tokyo", "visit the tower, " * 14]]
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=128)
LABELS = dict(id2label={0: "no", 1: "maybe", 2: "yes"})
MAKERS = {"bert": word_piece, "roberta": byte_pairs, "xlm-roberta": unigrams}
CLASSES = {"bert": "BertTokenizer", "roberta": "RobertaTokenizer", "xlm-roberta": "XLMRobertaTokenizer"}

POOLING = dict(word_embedding_dimension=32)
TRANSFORMER = dict(idx=0, name="0", path="", type="sentence_transformers.models.Transformer")


def sentence_encoder(pooling="mean_tokens", normalize=True, length=64, **more):
    """The files of sentence-transformers."""
    modules = [TRANSFORMER, dict(idx=1, name="1", path="1_Pooling", type="sentence_transformers.models.Pooling")]
    if normalize:
        modules.append(dict(idx=2, name="2", path="2_Normalize", type="sentence_transformers.models.Normalize"))
    return {"modules.json": modules, "1_Pooling/config.json": POOLING | {f"pooling_mode_{pooling}": True},
            "sentence_bert_config.json": dict(max_seq_length=length, do_lower_case=False)} | more


def settings(**keys):
    return {"tokenizer_config.json": keys}


def cross_encoder(**keys):
    """What sentence-transformers 6 writes of a cross-encoder."""
    return {"config_sentence_transformers.json": dict(model_type="CrossEncoder", **keys), "modules.json": [
        TRANSFORMER | dict(type="sentence_transformers.base.modules.transformer.Transformer")],
        "sentence_bert_config.json": dict(
            transformer_task="sequence-classification", module_output_name="scores",
            modality_config=dict(text=dict(method="forward", method_output_name="logits")))}


def similarity(name):
    return {"config_sentence_transformers.json": dict(similarity_fn_name=name, prompts={}, default_prompt_name=None)}


# Name: family, kind of model, keys of config.json, other files, versions of transformers; all if there are none.
CASES = {
    "sentence encoder": ("bert", "embed", {}, sentence_encoder()),
    "cls": ("bert", "embed", {}, sentence_encoder("cls_token", False)),
    "truncation_side": ("bert", "embed", {}, sentence_encoder(length=16) | settings(truncation_side="left")),
    "roberta, truncation_side": ("roberta", "embed", {}, sentence_encoder(length=16) | settings(truncation_side="left")),
    "do_lower_case of the tokenizer": ("bert", "embed", {}, sentence_encoder() | settings(do_lower_case=False)),
    "strip_accents": ("bert", "embed", {}, sentence_encoder() | settings(strip_accents=False)),
    "add_prefix_space": ("roberta", "embed", {}, sentence_encoder() | settings(add_prefix_space=True)),
    "model_max_length": ("xlm-roberta", "embed", {}, sentence_encoder(length=None) | settings(model_max_length=12)),
    "dot": ("bert", "similarity", {}, sentence_encoder(normalize=False) | similarity("dot")),
    "euclidean": ("bert", "similarity", {}, sentence_encoder(normalize=False) | similarity("euclidean")),
    "manhattan": ("bert", "similarity", {}, sentence_encoder(normalize=False) | similarity("manhattan")),
    "cosine": ("bert", "similarity", {}, sentence_encoder(normalize=False) | similarity("cosine")),
    "classifier": ("bert", "classify", LABELS, {}),
    "classifier, model_max_length": ("bert", "classify", LABELS, settings(model_max_length=12)),
    "classifier, truncation_side": ("roberta", "classify", LABELS, settings(model_max_length=12, truncation_side="left")),
    "reranker": ("bert", "rerank", dict(num_labels=1), {}),
    "reranker, Identity": ("bert", "rerank", dict(
        num_labels=1, sentence_transformers=dict(activation_fn="torch.nn.modules.linear.Identity", version="5.7.0")), {}),
    "reranker, old Identity": ("bert", "rerank", dict(
        num_labels=1, sbert_ce_default_activation_function="torch.nn.modules.linear.Identity"), {}),
    "reranker, Sigmoid": ("roberta", "rerank", dict(
        num_labels=1, sentence_transformers=dict(activation_fn="torch.nn.modules.activation.Sigmoid", version="5.7.0")), {}),
    "reranker, model_max_length": ("bert", "rerank", dict(num_labels=1), settings(model_max_length=20)),
    "reranker, truncation_side": ("bert", "rerank", dict(num_labels=1), settings(model_max_length=20, truncation_side="left")),
    "reranker, no token types": ("bert", "rerank", dict(num_labels=1), settings(model_input_names=["input_ids", "attention_mask"])),
    "reranker, any tokenizer": ("bert", "rerank", dict(num_labels=1), settings(tokenizer_class="PreTrainedTokenizerFast")),
    "reranker of version 6": ("bert", "rerank", dict(num_labels=1), cross_encoder(
        activation_fn="torch.nn.modules.linear.Identity"), "5."),
    "reranker of version 6, default prompt": ("bert", "rerank", dict(num_labels=1), cross_encoder(
        activation_fn="torch.nn.modules.linear.Identity", prompts=dict(query="ask the "), default_prompt_name="query"), "5."),
}
MODELS = dict(embed="", similarity="", classify="ForSequenceClassification", rerank="ForSequenceClassification")


def write_folder(folder, family, kind, keys, files):
    """Writes a folder, and returns what settings-case.ts needs to write it again."""
    tokenizer = tokenizer_of(MAKERS[family])
    config = AutoConfig.for_model(family, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **SIZES | keys)
    cls = type(getattr(transformers, f"AutoModel{MODELS[kind]}").from_config(config))
    model = cls(config).eval()
    weights = classifiers.drawn({name: tuple(tensor.shape) for name, tensor in model.named_parameters()})
    model.load_state_dict(weights, strict=False)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    saved = json.loads((folder / "tokenizer_config.json").read_text())
    kept = {key: value for key, value in saved.items() if key.endswith("_token") or key == "model_max_length"}
    own = {"config.json": json.loads((folder / "config.json").read_text()) | keys,
           "tokenizer_config.json": kept | dict(tokenizer_class=CLASSES[family]) | files.get("tokenizer_config.json", {})}
    written = files | own
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    for name, content in written.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    (folder / "2_Normalize").mkdir(exist_ok=True)
    shapes = " ".join(f"{name}={'x'.join(map(str, tensor.shape))}" for name, tensor in weights.items())
    return dict(tokenizer=family, tensors=shapes, files=written), json.loads((folder / "tokenizer.json").read_text())


def numbers(values):
    return [float(f"{value:.7g}") for value in torch.as_tensor(values).flatten().tolist()]


def answers(folder, kind):
    if kind == "embed":
        return [numbers(row) for row in SentenceTransformer(str(folder), device="cpu").encode(TEXTS)]
    if kind == "similarity":
        model = SentenceTransformer(str(folder), device="cpu")
        vectors = model.encode(TEXTS)
        return [numbers(model.similarity(vectors[:1], vectors[1:]))]
    if kind == "rerank":
        return [numbers(CrossEncoder(str(folder), device="cpu").predict(PAIRS))]
    classify = pipeline("text-classification", model=str(folder), device="cpu", top_k=None)
    labels = list(LABELS["id2label"].values())
    return [[{found["label"]: found["score"] for found in row}[label] for label in labels]
            for row in classify(TEXTS, truncation=True)]


def main():
    made = json.loads(FILE.read_text()) if FILE.exists() else dict(texts=TEXTS, pairs=PAIRS, tokenizers={}, cases=[])
    made |= dict(texts=TEXTS, pairs=PAIRS, cases=[case for case in made["cases"] if case["version"] != VERSION])
    for name, (family, kind, keys, files, *versions) in CASES.items():
        if versions and not VERSION.startswith(versions[0]):
            continue
        with tempfile.TemporaryDirectory() as work:
            folder = Path(work) / "model"
            folder.mkdir()
            written, tokenizer = write_folder(folder, family, kind, keys, files)
            made["tokenizers"].setdefault(family, tokenizer)
            (folder / "tokenizer.json").write_text(json.dumps(made["tokenizers"][family]))
            made["cases"].append(dict(name=name, version=VERSION, kind=kind, **written, answers=answers(folder, kind)))
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in made.pop("cases"))
    head = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    FILE.write_text(f'{head[:-1]},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
