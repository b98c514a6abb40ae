"""Writes decoding.json: the texts that Hugging Face's tokenizers make of tokens. Needs tokenizers and transformers."""

import json
import random
from pathlib import Path

from offsets import KINDS, PIECES, cased
from tiny_tokenizers import word_piece
from tokenizers import AddedToken, decoders
from transformers import PreTrainedTokenizerFast

DECODERS = {"WordPiece": decoders.WordPiece(), "byte-level BPE": decoders.ByteLevel(), "Unigram": decoders.Metaspace()}
MARKED = {"BPE, a mark before texts": decoders.Sequence([
    decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]),
          "BPE, each mark begins a word": decoders.Metaspace()}
CLEANED, PLAIN = "WordPiece, cleaned", "WordPiece, without a decoder"
TEXTS = ["", "a", " lead", "Anna works in New York .", "I do n't know , do not I ? She 's in !"]
RANDOM = 25


def case(name, make, texts, choose):
    made, marks = make()
    mask = marks["mask_token"]
    made.add_special_tokens([AddedToken(mask, lstrip=mask == "<mask>")])
    made.add_tokens([AddedToken("New York", normalized=False)])
    if name != PLAIN:
        made.decoder = MARKED.get(name) or DECODERS.get(name.split(",")[0], made.decoder)
    cleans = name == CLEANED
    fast = PreTrainedTokenizerFast(tokenizer_object=made, clean_up_tokenization_spaces=True, **marks) if cleans else made
    size = made.get_vocab_size()
    lists = [made.encode(text).ids for text in texts]
    lists += [[choose.randrange(size + 3) for _ in range(choose.randint(1, 9))] for _ in range(RANDOM)]
    return {"tokenizer": json.loads((fast.backend_tokenizer if cleans else made).to_str()), "lists": [
        {"ids": ids, "text": fast.decode(ids, skip_special_tokens=False), "without_special": fast.decode(ids, skip_special_tokens=True)}
        for ids in lists], **({"config": {"clean_up_tokenization_spaces": True}} if cleans else {})}


if __name__ == "__main__":
    choose = random.Random(6)
    texts = TEXTS + ["".join(choose.choice(PIECES) + choose.choice(["", " "]) for _ in range(choose.randint(1, 9)))
                     for _ in range(RANDOM)]
    cases = {name: case(name, make, texts, choose) for name, make in {**KINDS, CLEANED: cased, PLAIN: word_piece}.items()}
    Path(__file__).with_name("decoding.json").write_text(json.dumps(cases, ensure_ascii=True) + "\n")
