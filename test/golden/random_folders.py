"""Writes model folders in which two random keys are changed, and what their authors' libraries answer for them.

A folder is one that the library saved, with tiny weights. The keys are those of its JSON files. The seed and the number of a folder decide
everything about it. test/fixtures/random-folder.ts writes the same folders. Needs torch, transformers and sentence-transformers:

    python test/golden/random_folders.py <file> [--count 40] [--seed 0] [--only <number>]

random-folders-4.json and random-folders-5.json are made of transformers 4.57 and 5.24 with --count 20 --seed 4.
"""

import argparse
import json
import math
import os
import random
import shutil
import tempfile
import warnings
from pathlib import Path

os.environ |= dict(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="critical", TOKENIZERS_PARALLELISM="false")

import sentence_transformers
import torch
import transformers
from classifiers import drawn
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, Transformer
from tiny_tokenizers import byte_pairs, lower_unigrams, marked_word_piece, tokenizer_of, trimmed_unigrams, unigrams, word_piece
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer, pipeline

VERSION = transformers.__version__
TEXTS = [
    "Anna travels to Paris.", "OPEN the Café in NEW York!", "Maria a\u0301 works \u00e9\u00c9", "\u6771\u4eac tokyo\u4e2d live",
    "ask \U0001f600 the \U0001f469\u200d\U0001f680", "where does anna work, not in tokyo? " * 5, "  the  cafe ", " ",
    "[MASK] anna <mask> [SEP] </s> x", "<s>anna[CLS] [NEW]new <new>", "an\tapple\nin\u00a0 two\u200b\u0000 lines", "it's 42% \uff21\uff22 \ufb01sh",
]
PAIRS = [["Where does Anna work?", "Anna works for Acme Corp."], ["live in TOKYO", "visit the tower, " * 9], ["Caf\u00e9 [SEP]", " a </s> b"]]
LABELS = dict(id2label={0: "no", 1: "maybe", 2: "yes"}, label2id={"no": 0, "maybe": 1, "yes": 2})
POSITIONS = 40
MAX_TOKENS = 24
SIZES = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, max_position_embeddings=POSITIONS)
DISTILBERT = dict(dim=16, n_layers=2, n_heads=2, hidden_dim=20, max_position_embeddings=POSITIONS)
RELATIVE = dict(relative_attention=True, position_buckets=4, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
                position_biased_input=False, max_relative_positions=-1)

# Family: tokenizer, its class, and keys of config.json.
FAMILIES = {
    "bert": (word_piece, "BertTokenizer", SIZES),
    "distilbert": (word_piece, "DistilBertTokenizer", DISTILBERT),
    "electra": (word_piece, "ElectraTokenizer", SIZES | dict(embedding_size=8)),
    "mpnet": (marked_word_piece, "MPNetTokenizer", SIZES),
    "roberta": (byte_pairs, "RobertaTokenizer", SIZES),
    "xlm-roberta": (unigrams, "XLMRobertaTokenizer", SIZES),
    "albert": (lower_unigrams, "AlbertTokenizer", SIZES | dict(embedding_size=8)),
    # Families without a table of positions. The libraries cut no text of these if no key says its maximum length.
    "deberta-v2": (trimmed_unigrams, "DebertaV2Tokenizer", SIZES | RELATIVE | dict(max_position_embeddings=512)),
    "modernbert": (byte_pairs, "PreTrainedTokenizerFast", SIZES | dict(local_attention=8, max_position_embeddings=512)),
}
KINDS = dict(embed="", classify="ForSequenceClassification", rerank="ForSequenceClassification")

FLAGS = [True, False, None]
TASK = "torch.nn.modules."
NEW_TOKEN = dict(content="<new>", lstrip=False, normalized=False, rstrip=False, single_word=False, special=True)
LISTED = {
    "tokenizer_config.json": dict(
        tokenizer_class=["BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "MPNetTokenizer", "RobertaTokenizerFast",
                         "XLMRobertaTokenizer", "AlbertTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", None],
        do_lower_case=FLAGS, strip_accents=FLAGS, tokenize_chinese_chars=FLAGS, add_prefix_space=FLAGS, clean_up_tokenization_spaces=FLAGS,
        trim_offsets=FLAGS, truncation_side=["left", "right"], padding_side=["left", "right"], model_max_length=[10, 16, 512, int(1e30)],
        max_len=[12], max_length=[9, 128], stride=[0, 3], truncation_strategy=["longest_first", "only_first"],
        model_input_names=[["input_ids", "attention_mask"], ["input_ids", "token_type_ids", "attention_mask"], ["input_ids"]],
        additional_special_tokens=[[], ["[NEW]"], [NEW_TOKEN], ["anna"]],
        extra_special_tokens=[[], {}, ["[NEW]"], dict(new_token="<new>"), dict(image_token=NEW_TOKEN)],
        added_tokens_decoder=[{}, {"400": NEW_TOKEN}, {"6": NEW_TOKEN | dict(content="<new>", special=False)}],
        pad_token_type_id=[0, 1], pad_to_multiple_of=[None, 8], split_special_tokens=[True, False], do_basic_tokenize=FLAGS,
        never_split=[["anna"], None], sp_model_kwargs=[{}], vocab_type=["spm"], keep_accents=FLAGS, remove_space=FLAGS, split_by_punct=FLAGS,
        wordpieces_prefix=["##"], clean_text=FLAGS, errors=["strict", "replace"], legacy=FLAGS, from_slow=[False], subword_prefix=["@@"],
        word_delimiter_token=["|"], unk_id=[0, 3], add_bos_token=FLAGS, add_eos_token=FLAGS, name_or_path=["some/model"],
        special_tokens_map_file=["special_tokens_map.json"], use_fast=FLAGS, processor_class=[None], backend=["tokenizers"], is_local=FLAGS,
        verbose=[False], chat_template=[None, "x"], spaces_between_special_tokens=FLAGS, return_tensors=["pt", None],
    ) | {f"{name}_token": [None] for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask")},
    "config.json": dict(
        hidden_act=["relu", "gelu_new", "silu", "gelu_pytorch_tanh", "tanh"], activation=["relu"], layer_norm_eps=[1e-12, 1e-5, 0.01],
        layer_norm_epsilon=[1e-3], norm_eps=[1e-3], pad_token_id=[0, 1, 3, None], position_embedding_type=["absolute", "relative_key"],
        num_labels=[1, 2, 3], problem_type=["regression", "single_label_classification", "multi_label_classification", None],
        id2label=[{"0": "a", "1": "b", "2": "c"}, {"2": "x", "0": "y", "1": "z"}, {"0": "one"}, {"1": "a", "0": "b", "2": "a"}],
        label2id=[{"no": 2, "maybe": 1, "yes": 0}], architectures=[[], None, ["BertModel"], ["BertForMaskedLM"]],
        tokenizer_class=["BertTokenizer", "RobertaTokenizer", "PreTrainedTokenizerFast", None], is_decoder=FLAGS, add_cross_attention=[False],
        is_encoder_decoder=[False], tie_word_embeddings=[True, False], output_hidden_states=[True, False], output_attentions=[True, False],
        return_dict=[True], use_cache=[True, False], torch_dtype=["float32", None], dtype=["float32"], chunk_size_feed_forward=[0, 4],
        hidden_dropout_prob=[0.0, 0.5], attention_probs_dropout_prob=[0.3], classifier_dropout=[None, 0.4], dropout=[0.3],
        initializer_range=[0.1], bos_token_id=[None, 5], eos_token_id=[None, 5], sep_token_id=[6], cls_token_id=[6], prefix=["x"],
        max_length=[5], temperature=[2.0], pruned_heads=[{}], summary_type=["cls_index", "last"], summary_use_proj=[True, False],
        summary_activation=["tanh", "gelu"], summary_last_dropout=[0.4], pooler_hidden_act=["relu", "gelu"], pooler_dropout=[0.3],
        pos_att_type=["p2c|c2p", ["c2p"], []], position_buckets=[4, 2], max_relative_positions=[-1, 5], norm_rel_ebd=["layer_norm", "none"],
        share_att_key=FLAGS, relative_attention=FLAGS, position_biased_input=FLAGS, conv_kernel_size=[0], legacy=FLAGS,
        inner_group_num=[1], num_hidden_groups=[1], down_scale_factor=[1], gap_size=[0], qa_dropout=[0.2], seq_classif_dropout=[0.9],
        sinusoidal_pos_embds=FLAGS, classifier_pooling=["cls", "mean"], classifier_bias=[False], classifier_activation=["gelu", "relu"],
        local_attention=[4, 8, 128], global_attn_every_n_layers=[1, 2, 3], hidden_activation=["gelu", "relu"], norm_bias=[False],
        global_rope_theta=[160000.0, 10.0], local_rope_theta=[10000.0, 10.0], layer_types=[["full_attention", "sliding_attention"]],
        rope_parameters=[dict(full_attention=dict(rope_type="default", rope_theta=10.0),
                              sliding_attention=dict(rope_type="default", rope_theta=10.0))],
        deterministic_flash_attn=[True], sparse_prediction=[True], repad_logits_with_grad=[True], relative_attention_num_buckets=[32, 8],
        type_vocab_size=[2, 1, 0], max_position_embeddings=[POSITIONS, 30], num_hidden_layers=[2, 1], vocab_size=[90],
        sentence_transformers=[dict(activation_fn=f"{TASK}linear.Identity", version="5.0.0"), dict(version="5.0.0"), None,
                               dict(activation_fn=f"{TASK}activation.Sigmoid")],
        sbert_ce_default_activation_function=[f"{TASK}linear.Identity", f"{TASK}activation.Tanh", None],
    ),
    "sentence_bert_config.json": dict(
        max_seq_length=[8, 16, None, 512], do_lower_case=FLAGS, unpad_inputs=[False, None], model_args=[{}], tokenizer_args=[{}],
        config_args=[{}], model_kwargs=[{}], processor_kwargs=[{}], config_kwargs=[{}], processing_kwargs=[{}, None, dict(text=dict(max_length=6))],
        transformer_task=["feature-extraction", "sequence-classification"], module_output_name=["token_embeddings", "scores"],
        tokenizer_name_or_path=[None], cache_dir=[None], backend=["torch"], query_length=[None, 8], document_length=[None],
    ),
    "config_sentence_transformers.json": dict(
        prompts=[{}, dict(query="ask ", document=""), dict(query="Tokyo: "), dict(query="", document="the ")],
        default_prompt_name=["query", "document", None], similarity_fn_name=["cosine", "dot", "euclidean", "manhattan", None],
        truncate_dim=[None, 8], model_type=["SentenceTransformer", "CrossEncoder", None], activation_fn=[
            f"{TASK}linear.Identity", f"{TASK}activation.Sigmoid", f"{TASK}activation.Tanh", "own.Activation", None],
        requirements=[[]], max_active_dims=[None], keep_in_fp32_modules=[[]], query_length=[None], skiplist_words=[[]],
    ),
    "1_Pooling/config.json": dict(
        pooling_mode=["mean", "cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens", ["mean"], ["cls", "mean"]],
        include_prompt=FLAGS, word_embedding_dimension=[16, 8], embedding_dimension=[16, 8],
    ) | {f"pooling_mode_{mode}": [True, False] for mode in ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens",
                                                            "weightedmean_tokens", "lasttoken")},
    "2_Normalize/config.json": dict(module_input_name=["sentence_embedding", "token_embeddings"],
                                    module_output_name=["sentence_embedding", None]),
}
# How often a file is chosen.
SHARES = {"tokenizer_config.json": 10, "tokenizer.json": 8, "config.json": 6, "sentence_bert_config.json": 3,
          "config_sentence_transformers.json": 3, "1_Pooling/config.json": 2, "2_Normalize/config.json": 1}
# Keys that often change results are chosen more often, and a list of tokens is chosen as a whole.
LIVE = {"tokenizer_class", "do_lower_case", "strip_accents", "tokenize_chinese_chars", "add_prefix_space", "truncation_side", "model_max_length",
        "model_input_names", "additional_special_tokens", "extra_special_tokens", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
        "bos_token", "eos_token", "max_seq_length", "prompts", "default_prompt_name", "similarity_fn_name", "activation_fn", "num_labels",
        "id2label", "problem_type", "pad_token_id", "normalizer", "pre_tokenizer", "post_processor", "model", "truncation"}
DELETED = object()


def choices(files, file):
    """Returns the values that each key of a file may get, by its path. A key can also be deleted."""
    content = files[file]
    if file == "tokenizer.json":
        return parts_of_tokenizer(content)
    found = {(key,): values + ([DELETED] if key in content else []) for key, values in LISTED[file].items()}
    if file == "tokenizer_config.json":
        names = [token["content"] for token in files["tokenizer.json"]["added_tokens"]]
        for key in list(LISTED[file]):
            if key.endswith("_token") and key not in ("word_delimiter_token",):
                found[(key,)] += [names[1], names[-1], "anna", "<new>", dict(NEW_TOKEN, content=names[-1], lstrip=True),
                                  dict(NEW_TOKEN, content=content.get(key) or names[0], **{"__type": "AddedToken"})]
        for number, token in content.get("added_tokens_decoder", {}).items():
            for flag in ("lstrip", "rstrip", "normalized", "single_word", "special"):
                found[("added_tokens_decoder", number, flag)] = [not token[flag]]
            found[("added_tokens_decoder", number)] = [DELETED]
    return found


def parts_of_tokenizer(content):
    found = {
        ("truncation",): [None, dict(direction="Left", max_length=12, strategy="LongestFirst", stride=0),
                          dict(direction="Right", max_length=10, strategy="LongestFirst", stride=2)],
        ("padding",): [None, dict(strategy=dict(Fixed=20), direction="Right", pad_to_multiple_of=None, pad_id=0, pad_type_id=0,
                                  pad_token=content["added_tokens"][0]["content"]),
                       dict(strategy="BatchLongest", direction="Left", pad_to_multiple_of=8, pad_id=0, pad_type_id=1,
                            pad_token=content["added_tokens"][0]["content"])],
        ("normalizer",): [None, dict(type="NFC"), dict(type="Lowercase"), dict(type="BertNormalizer", clean_text=True,
                          handle_chinese_chars=True, strip_accents=None, lowercase=True)],
        ("pre_tokenizer",): [dict(type="BertPreTokenizer"), dict(type="WhitespaceSplit"),
                             dict(type="Sequence", pretokenizers=[dict(type="Punctuation", behavior="Isolated"), content["pre_tokenizer"]])],
        ("post_processor",): [None, dict(type="ByteLevel", add_prefix_space=True, trim_offsets=True, use_regex=True)],
        ("model", "unk_token"): ["[UNK]", "<unk>", None, "anna"],
        ("model", "max_input_chars_per_word"): [5, 200],
        ("model", "continuing_subword_prefix"): ["##", "@@"],
        ("model", "fuse_unk"): FLAGS[:2], ("model", "byte_fallback"): FLAGS[:2], ("model", "unk_id"): [0, 3, None],
        ("model", "ignore_merges"): FLAGS[:2], ("model", "dropout"): [None, 0.0],
    }
    kinds = dict(WordPiece=("unk_token", "max_input_chars_per_word", "continuing_subword_prefix"),
                 BPE=("unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "dropout"), Unigram=("unk_id", "byte_fallback"))
    kept = kinds[content["model"].get("type", "WordPiece")]
    found = {path: values for path, values in found.items() if path[0] != "model" or path[1] in kept}
    found |= flags_below(content, ("normalizer",)) | flags_below(content, ("pre_tokenizer",)) | flags_below(content, ("post_processor",))
    for at, token in enumerate(content["added_tokens"]):
        for flag in ("lstrip", "rstrip", "normalized", "single_word", "special"):
            found[("added_tokens", at, flag)] = [not token[flag]]
        found[("added_tokens", at)] = [DELETED]
    return found


def flags_below(content, path):
    """Returns the flags of a part of tokenizer.json, and of the parts in it."""
    part = content
    for key in path:
        part = part[key]
    found = {}
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else []
    for key, value in items:
        if isinstance(value, bool):
            found[(*path, key)] = [not value]
        elif key == "strip_accents":
            found[(*path, key)] = FLAGS
        elif key == "prepend_scheme":
            found[(*path, key)] = ["always", "first", "never"]
        elif key == "type_id":
            found[(*path, key)] = [1 - value]
        elif key in ("cls", "sep"):
            found[(*path, key)] = [["anna", 60]]
        elif isinstance(value, (dict, list)):
            found |= flags_below(content, (*path, key))
    return found


def drawn_edits(random, files):
    """Draws the values of two keys."""
    edits = []
    while len(edits) < 2:
        names = [name for name in SHARES if name in files]
        file = random.choices(names, [SHARES[name] for name in names])[0]
        possible = choices(files, file)
        parts = list(dict.fromkeys(key for key, *_ in possible))
        part = random.choice(parts + [key for key in parts if key in LIVE] * 3)
        path = random.choice([each for each in possible if each[0] == part])
        if any(edit["file"] == file and edit["path"][:len(path)] == list(path)[:len(edit["path"])] for edit in edits):
            continue
        value = random.choice(possible[path])
        edits.append(dict(file=file, path=list(path), **({} if value is DELETED else dict(value=value))))
    # Deleted tokens move the others.
    return sorted(edits, key=lambda edit: ("value" not in edit, [-key for key in edit["path"] if isinstance(key, int)]))


def edited(content, path, edit):
    """Returns a part of a file with a changed key."""
    if not path:
        return edit["value"]
    key, *rest = path
    made = list(content) if isinstance(content, list) else dict(content)
    if not rest and "value" not in edit:
        made.pop(key)
    else:
        made[key] = edited(made[key] if rest else None, rest, edit)
    return made


class Folders:
    """Folders that the library saved, and copies of them with changed keys."""

    def __init__(self, work):
        self.work = work
        self.bases = {}

    def base(self, family, kind):
        name = f"{family}, {kind}"
        if name not in self.bases:
            folder = self.work / name
            shapes = save(folder, family, kind)
            files = {str(file.relative_to(folder)): json.loads(file.read_text()) for file in sorted(folder.rglob("*.json"))}
            self.bases[name] = dict(kind=kind, tensors=shapes, files=files, answers=answers(folder, kind))
        return name, self.bases[name]

    def case(self, seed, number):
        draw = random.Random(f"{seed} {number}")
        name, base = self.base(draw.choice(list(FAMILIES)), draw.choice(["embed", "embed", "classify", "rerank"]))
        edits = drawn_edits(draw, base["files"])
        folder = self.work / "edited"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.work / name, folder)
        for edit in edits:
            file = folder / edit["file"]
            file.write_text(json.dumps(edited(json.loads(file.read_text()), edit["path"], edit)))
        case = dict(number=number, base=name, edits=edits)
        try:
            return case | dict(answers=answers(folder, base["kind"]))
        except Exception as error:
            return case | dict(error=f"{type(error).__name__}: {str(error)[:160]}")

    def stored(self):
        return self.bases


def save(folder, family, kind):
    """Saves a folder as the library does, and draws its weights. Returns their shapes."""
    raw = folder.parent / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    make, cls, keys = FAMILIES[family]
    tokenizer = tokenizer_of(make)
    tokenizer.save_pretrained(raw)
    settings = json.loads((raw / "tokenizer_config.json").read_text()) | dict(tokenizer_class=cls, model_max_length=MAX_TOKENS)
    if family == "modernbert":
        settings["model_input_names"] = ["input_ids", "attention_mask"]
    (raw / "tokenizer_config.json").write_text(json.dumps(settings))
    labels = LABELS if kind == "classify" else dict(num_labels=1) if kind == "rerank" else {}
    special = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(str(token)) for name, token in
               dict(pad=tokenizer.pad_token, bos=tokenizer.cls_token, eos=tokenizer.sep_token, cls=tokenizer.cls_token,
                    sep=tokenizer.sep_token).items()}
    config = AutoConfig.for_model(family, vocab_size=len(tokenizer), **keys | special | labels)
    model = getattr(transformers, f"AutoModel{KINDS[kind]}").from_config(config)
    model.save_pretrained(raw)
    if kind == "embed":
        modules = [Transformer(str(raw), max_seq_length=MAX_TOKENS), Pooling(16, pooling_mode="mean"), Normalize()]
        prompts = dict(query="ask for: ", document="")
        SentenceTransformer(modules=modules, prompts=prompts, device="cpu").save_pretrained(str(folder))
    elif kind == "rerank":
        CrossEncoder(str(raw), num_labels=1, device="cpu").save_pretrained(str(folder))
    else:
        AutoModelForSequenceClassification.from_pretrained(raw).save_pretrained(folder)
        AutoTokenizer.from_pretrained(raw).save_pretrained(folder)
    weights = folder / "model.safetensors"
    shapes = {tensor: tuple(values.shape) for tensor, values in load_file(weights).items()}
    save_file(drawn(shapes), weights, metadata=dict(format="pt"))
    (folder / "README.md").unlink(missing_ok=True)
    return " ".join(f"{tensor}={'x'.join(map(str, shape))}" for tensor, shape in shapes.items())


def answers(folder, kind):
    """Returns rows of numbers."""
    if kind == "embed":
        model = SentenceTransformer(str(folder), device="cpu")
        # One text at a time: padding is no part of a text.
        vectors = model.encode(TEXTS, batch_size=1)
        return numbers([*vectors.tolist(), model.similarity(vectors[:1], vectors[1:]).flatten().tolist()])
    if kind == "rerank":
        return numbers([CrossEncoder(str(folder), device="cpu").predict(PAIRS, batch_size=1).flatten().tolist()])
    classify = pipeline("text-classification", model=str(folder), device="cpu", top_k=None)
    found = [{each["label"]: each["score"] for each in row} for row in classify(TEXTS, truncation=True)]
    return [dict(zip(row, *numbers([row.values()]))) for row in found]


def numbers(rows):
    rows = [[float(f"{value:.6g}") for value in row] for row in rows]
    if not all(math.isfinite(value) for row in rows for value in row):
        raise ValueError("The answers are not finite.")
    return rows


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main():
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    options = argparse.ArgumentParser()
    options.add_argument("file")
    options.add_argument("--count", type=int, default=40)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", type=int)
    given = options.parse_args()
    numbers = range(given.count) if given.only is None else [given.only]
    with tempfile.TemporaryDirectory() as work:
        made = Folders(Path(work))
        cases = [made.case(given.seed, number) for number in numbers]
    versions = dict(transformers=VERSION, **{"sentence-transformers": sentence_transformers.__version__})
    head = dict(versions=versions, seed=given.seed, texts=TEXTS, pairs=PAIRS, bases=made.stored())
    lines = ",\n".join(compact(case) for case in cases)
    Path(given.file).write_text(f'{compact(head)[:-1]},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
