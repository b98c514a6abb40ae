"""Writes offsets.json: where Hugging Face's tokenizers find tokens in texts. Needs tokenizers."""

import json
import random
from pathlib import Path

from tiny_tokenizers import byte_pairs, marked_pairs, unigrams, word_piece
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors

PIECES = ["a", "b", "the ", "cat", "Café", "é", "e\u0301", "\u0301", "\u0327", "ﬁ", "İ", "ß", "日本", "각", "나", "😀", "👩‍👩‍👧", " ", "  ",
          "\t", "\n", ",", ", ", ".", "-", "'s", "don't", "[MASK]", "<mask>", "New York", "Anna", "123", "3.14", "\u200b",
          "\u00a0", "ｆｕｌｌ", "①", "½", "…", "“q”", "\u0915\u094d\u0937", "ไทย", "м", "▁", "#", "##ing", "working"]
TEXTS = 60


def cased():
    made, marks = word_piece()
    made.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    return made, marks


def untrimmed():
    """ModernBERT: composed characters, and a token keeps the space before it."""
    made, marks = byte_pairs()
    made.normalizer = normalizers.NFC()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    return made, marks


def spaced():
    """RoBERTa as some were converted: a space before the text."""
    made, marks = byte_pairs()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=True)
    return made, marks


LLAMA = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def llama():
    """EuroBERT: words of Llama 3, and a word that is a token is not merged."""
    made, marks = byte_pairs()
    json_ = json.loads(made.to_str())
    json_["model"]["ignore_merges"] = True
    json_["model"]["vocab"].update({"Ġworking": 1000, "Ã©": 1001})
    made = Tokenizer.from_str(json.dumps(json_))
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(LLAMA), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    made.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])])
    return made, marks


def in_words():
    """Words and digits are split before bytes are merged."""
    made, marks = byte_pairs()
    made.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel()])
    return made, marks


def llama_2():
    """Llama 2: a `▁` before texts."""
    made, marks = marked_pairs()
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.pre_tokenizer = None
    return made, marks


def without_bytes(**changes):
    """BPE in which characters that are no token are unknown."""
    made, marks = marked_pairs()
    content = json.loads(made.to_str())
    content["model"].update({"byte_fallback": False, **changes})
    return Tokenizer.from_str(json.dumps(content)), marks


def spaced_marks():
    """Each `▁` begins a word, and neighbouring unknown characters are one token."""
    made, marks = without_bytes(fuse_unk=True)
    made.normalizer = None
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made, marks


def quick_tour():
    """Words, and other characters side by side."""
    made, marks = without_bytes(fuse_unk=False)
    made.normalizer = None
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made, marks


def separated():
    """XLM-RoBERTa without its table of replacements."""
    made, marks = unigrams()
    made.normalizer = None
    return made, marks


def collapsed():
    """Unigram whose spaces become one `▁`, which belongs to the word after it."""
    made, marks = unigrams()
    made.normalizer = normalizers.Sequence([
        normalizers.Strip(left=True, right=True), normalizers.Replace(Regex(" {2,}"), "▁")])
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    return made, marks


KINDS = {"WordPiece": word_piece, "WordPiece, cased": cased, "byte-level BPE": byte_pairs,
         "byte-level BPE, untrimmed": untrimmed, "byte-level BPE, with a space before texts": spaced,
         "byte-level BPE, Llama 3's words": llama, "byte-level BPE, in words": in_words,
         "BPE": marked_pairs, "BPE, a mark before texts": llama_2, "BPE, each mark begins a word": spaced_marks,
         "BPE, words and other characters": quick_tour, "Unigram, separated": separated, "Unigram, collapsed": collapsed}


def case(make, texts):
    made, marks = make()
    mask = marks["mask_token"]
    made.add_special_tokens([AddedToken(mask, lstrip=mask == "<mask>")])
    found = []
    for text in texts:
        encoding = made.encode(text)
        found.append({
            "text": text,
            "ids": encoding.ids,
            "offsets": [position for offset in encoding.offsets for position in offset],
            "words": [-1 if word is None else word for word in encoding.word_ids],
        })
    return {"tokenizer": json.loads(made.to_str()), "texts": found}


if __name__ == "__main__":
    choose = random.Random(5)
    texts = ["", "a", " lead", "trail ", "Anna works in New York."]
    texts += ["".join(choose.choice(PIECES) + choose.choice(["", " ", ""]) for _ in range(choose.randint(1, 9)))
              for _ in range(TEXTS)]
    cases = {name: case(make, texts) for name, make in KINDS.items()}
    Path(__file__).with_name("offsets.json").write_text(json.dumps(cases, ensure_ascii=True) + "\n")
