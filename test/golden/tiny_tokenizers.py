"""Tokenizers with small vocabularies, of the three kinds that most encoders use."""

import json

from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors
from tokenizers.models import BPE, Unigram, WordPiece
from tokenizers.trainers import BpeTrainer
from transformers import PreTrainedTokenizerFast

WORDS = ("anna maria works for acme corp in new york not paris is ask before open cafe doesn with two space and line "
         "a an the visit tower tokyo live where does she travel cooking dancing this example").split()
ENDINGS = "s ing er ists ability phon lop ford able on or el ill ter".split()
CHARACTERS = [chr(code) for code in range(33, 127)]


def word_piece():
    """BERT: lower case, punctuation is a word, `##` continues a word."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    lower = [character for character in CHARACTERS if character == character.lower() and character not in "xz"]
    pieces = special + lower + WORDS + [f"##{piece}" for piece in lower if piece.isalnum()] + [f"##{end}" for end in ENDINGS]
    vocabulary = {piece: i for i, piece in enumerate(dict.fromkeys(pieces))}
    made = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    made.decoder = decoders.WordPiece()
    return made, dict(pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]")


def marked_word_piece():
    """MPNet: BERT's with RoBERTa's special tokens."""
    made, _ = word_piece()
    state = json.loads(made.to_str())
    special = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
    pieces = special + list(state["model"]["vocab"])[len(special):]
    state["model"]["vocab"] = {piece: i for i, piece in enumerate(pieces)}
    state["post_processor"] = dict(type="RobertaProcessing", sep=["</s>", 2], cls=["<s>", 0], trim_offsets=True, add_prefix_space=False)
    return Tokenizer.from_str(json.dumps(state)), SENTENCE_MARKS | dict(unk_token="[UNK]", bos_token="<s>", eos_token="</s>")


SENTENCE_MARKS = dict(pad_token="<pad>", unk_token="<unk>", cls_token="<s>", sep_token="</s>", mask_token="<mask>")


def byte_pairs():
    """RoBERTa: bytes, and a space belongs to the word after it."""
    made = Tokenizer(BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.train_from_iterator([" ".join(WORDS), " ".join(WORDS).title()], BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    return made, SENTENCE_MARKS


def marked_pairs():
    """Gemma: BPE over characters, in which `▁` stands for a space, and other characters are bytes."""
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    made = Tokenizer(BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    made.normalizer = normalizers.Replace(" ", "▁")
    made.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    made.train_from_iterator([" ".join(WORDS), " ".join(WORDS).title()] * 2, BpeTrainer(
        vocab_size=700, special_tokens=special + [f"<0x{byte:02X}>" for byte in range(256)], show_progress=False,
        initial_alphabet=CHARACTERS + ["▁"]))
    made.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 0), ("</s>", 2)])
    made.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    return made, SENTENCE_MARKS


def unigrams():
    """XLM-RoBERTa: probabilities of pieces, and `▁` begins a word."""
    pieces = [(f"▁{word}", -4 - len(word) / 10) for word in WORDS + [word.title() for word in WORDS]]
    pieces += [(end, -6.0) for end in ENDINGS] + [("▁", -3.0)] + [(character, -9.0) for character in CHARACTERS]
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    made = Tokenizer(Unigram(special + list(dict(pieces).items()) + [("<mask>", 0.0)], unk_id=3))
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    made.decoder = decoders.Metaspace()
    return made, SENTENCE_MARKS


def unigrams_of(special, unknown, normalizer, pre_tokenizer):
    pieces = [(f"▁{word}", -4 - len(word) / 10) for word in WORDS] + [(end, -6.0) for end in ENDINGS] + [("▁", -3.0)]
    pieces += [(character, -9.0) for character in CHARACTERS if character not in "XZ"]
    made = Tokenizer(Unigram([(token, 0.0) for token in special] + list(dict(pieces).items()), unk_id=special.index(unknown)))
    made.normalizer, made.pre_tokenizer = normalizer, pre_tokenizer
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, special.index(token)) for token in ("[CLS]", "[SEP]")])
    made.decoder = decoders.Metaspace()
    return made, dict(pad_token=special[0], unk_token=unknown, cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
                      bos_token="[CLS]", eos_token="[SEP]")


def lower_unigrams():
    """ALBERT: lower case, without accents."""
    steps = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(),
             normalizers.Lowercase()]
    return unigrams_of(["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"], "<unk>", normalizers.Sequence(steps),
                       pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]))


def trimmed_unigrams():
    """DeBERTa-v2: spaces at the end are cut."""
    steps = [normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "), normalizers.NFC(), normalizers.Strip(left=False, right=True)]
    return unigrams_of(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], "[UNK]", normalizers.Sequence(steps),
                       pre_tokenizers.Sequence([pre_tokenizers.Metaspace()]))


TOKENIZERS = {"bert": word_piece, "electra": word_piece, "distilbert": word_piece, "roberta": byte_pairs,
              "xlm-roberta": unigrams}


def tokenizer_of(make):
    made, special = make()
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=128, **special)
