"""Writes tokenizer-settings.json: token ids of transformers for folders whose tokenizer files say different things.

Each case changes one key of tokenizer_config.json or one part of tokenizer.json, or has an added_tokens.json. Run it with
transformers 4.57 and with 5.24: each version adds its answers for folders that it wrote. Needs transformers.
"""

import json
import shutil
import tempfile
from pathlib import Path

import transformers
from tiny_tokenizers import byte_pairs, tokenizer_of, unigrams, word_piece
from transformers import AutoTokenizer

FILE = Path(__file__).parent / "tokenizer-settings.json"
TEXTS = ["Anna Café 中文x\u200b, [NEW] ask  <new> it's", "  lead space Paris", "ANNA [MASK] <mask> .", "anna " * 12 + "paris"]
PAIR = ["an anna", "ask paris"]
MAX_TOKENS = 16
BASES = {
    "bert": (word_piece, "BertTokenizer", "bert"),
    "bert, any tokenizer": (word_piece, "PreTrainedTokenizerFast", "bert"),
    "bert, no class": (word_piece, None, "bert"),
    "bert, MobileBertTokenizer": (word_piece, "MobileBertTokenizer", "bert"),
    "bert, ConvBertTokenizer": (word_piece, "ConvBertTokenizer", "bert"),
    "electra, no class": (word_piece, None, "electra"),
    "distilbert": (word_piece, "DistilBertTokenizer", "distilbert"),
    "mpnet": (word_piece, "MPNetTokenizer", "mpnet"),
    "roberta": (byte_pairs, "RobertaTokenizer", "roberta"),
    "roberta, any tokenizer": (byte_pairs, "PreTrainedTokenizerFast", "roberta"),
    "xlm-roberta": (unigrams, "XLMRobertaTokenizer", "xlm-roberta"),
}
ADDED = dict(content="<new>", special=False, lstrip=False, rstrip=False, single_word=False, normalized=False)
ADDED_FILES = [{"<new>": 200}, {"[NEW]": 300, "<new>": 250}, {"<new>": 2, "anna": 500}, {"<mask>": 1000, "ask": 7}]
TRUNCATION = dict(max_length=12, strategy="LongestFirst", stride=0)
SETTINGS = [
    {}, dict(do_lower_case=False), dict(do_lower_case=True), dict(strip_accents=False), dict(strip_accents=True),
    dict(tokenize_chinese_chars=False), dict(add_prefix_space=True), dict(add_prefix_space=False),
    dict(truncation_side="left"), dict(additional_special_tokens=["[NEW]"]),
    dict(extra_special_tokens={"new_token": "<new>"}),
    dict(model_input_names=["input_ids", "attention_mask"]),
    dict(model_input_names=["input_ids", "token_type_ids", "attention_mask"]),
    # Without effect.
    dict(padding_side="left"), dict(do_basic_tokenize=False), dict(never_split=["anna"]), dict(trim_offsets=False),
    dict(add_bos_token=False), dict(add_eos_token=False), dict(keep_accents=True), dict(stride=3), dict(max_length=9),
    dict(clean_up_tokenization_spaces=True), dict(errors="strict"), dict(pad_to_multiple_of=8), dict(remove_space=False),
    dict(split_by_punct=True), dict(sp_model_kwargs={}), dict(vocab_type="spm"), dict(word_delimiter_token="|"),
]
PARTS = [
    dict(truncation=TRUNCATION | dict(direction="Left")), dict(truncation=TRUNCATION | dict(direction="Right")),
    dict(padding=dict(strategy={"Fixed": 64}, direction="Right", pad_to_multiple_of=None, pad_id=0, pad_type_id=0,
                      pad_token="[PAD]")),
]


def write_base(folder, make, name, model_type):
    tokenizer_of(make).save_pretrained(folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("tokenizer_class")
    kept = {key: value for key, value in settings.items() if key.endswith("_token") or key == "model_max_length"}
    if name == "MPNetTokenizer":
        kept |= dict(bos_token="[CLS]", eos_token="[SEP]")
        made = json.loads((folder / "tokenizer.json").read_text())
        made["post_processor"] = dict(
            type="RobertaProcessing", sep=["[SEP]", 3], cls=["[CLS]", 2], trim_offsets=True, add_prefix_space=False)
        (folder / "tokenizer.json").write_text(json.dumps(made))
    (folder / "tokenizer_config.json").write_text(json.dumps(kept | ({} if name is None else dict(tokenizer_class=name))))
    (folder / "special_tokens_map.json").unlink(missing_ok=True)
    config = dict(model_type=model_type, transformers_version=transformers.__version__)
    (folder / "config.json").write_text(json.dumps(config))


def parts_of(json_file):
    more = []
    if (json_file["normalizer"] or {}).get("type") == "BertNormalizer":
        for key, value in dict(lowercase=False, strip_accents=False, handle_chinese_chars=False, clean_text=False).items():
            more.append(dict(normalizer=json_file["normalizer"] | {key: value}))
    if "add_prefix_space" in json_file["pre_tokenizer"]:
        more.append(dict(pre_tokenizer=json_file["pre_tokenizer"] | dict(add_prefix_space=True)))
    return PARTS + more


def answers(folder):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    pair = tokenizer(*PAIR)
    types = pair.get("token_type_ids") or [0] * len(pair["input_ids"])
    cut = [tokenizer(text, truncation=True, max_length=MAX_TOKENS)["input_ids"] for text in TEXTS]
    return dict(ids=cut, pair=pair["input_ids"], types=types)


def cases_of(base):
    tokens = {str(token["id"]): token for token in json.loads((base / "tokenizer.json").read_text())["added_tokens"]}
    kept = {i: {key: value for key, value in token.items() if key != "id"} for i, token in tokens.items()}
    yield "tokenizer_config.json", dict(added_tokens_decoder=kept | {"200": ADDED})
    for edit in ADDED_FILES:
        yield "added_tokens.json", edit
    for edit in SETTINGS:
        yield "tokenizer_config.json", edit
    for edit in parts_of(json.loads((base / "tokenizer.json").read_text())):
        yield "tokenizer.json", edit


def main():
    version = transformers.__version__
    made = json.loads(FILE.read_text()) if FILE.exists() else dict(texts=TEXTS, maxTokens=MAX_TOKENS, pairOf=PAIR, bases={}, cases=[])
    made["cases"] = [case for case in made["cases"] if case["version"] != version]
    with tempfile.TemporaryDirectory() as work:
        for name, (make, cls, model_type) in BASES.items():
            base = Path(work) / "base"
            shutil.rmtree(base, ignore_errors=True)
            write_base(base, make, cls, model_type)
            files = {file: json.loads((base / file).read_text()) for file in ("tokenizer.json", "tokenizer_config.json")}
            made["bases"][name] = dict(model_type=model_type) | files | {
                "tokenizer.json": made["bases"].get(name, files)["tokenizer.json"]}
            (base / "tokenizer.json").write_text(json.dumps(made["bases"][name]["tokenizer.json"]))
            for file, edit in cases_of(base):
                edited = Path(work) / "edited"
                shutil.rmtree(edited, ignore_errors=True)
                shutil.copytree(base, edited)
                path = edited / file
                path.write_text(json.dumps((json.loads(path.read_text()) if path.exists() else {}) | edit))
                made["cases"].append(dict(version=version, base=name, file=file, edit=edit, answers=answers(edited)))
    lines = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in made.pop("cases"))
    head = json.dumps(made, ensure_ascii=False, separators=(",", ":"))
    FILE.write_text(f'{head[:-1]},"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
