"""Finds tokens with Hugging Face's Rust tokenizers: rust_places.py <tokenizer.json> < texts.json > places.json

Reads a list of texts and writes a list for each: its token ids, the start and the end of each token in code points, and the index
of each token's word, or -1.
"""

import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()


def places(text):
    found = tokenizer.encode(text)
    return [*found.ids, *(position for offset in found.offsets for position in offset),
            *(-1 if word is None else word for word in found.word_ids)]


sys.stdout.write(json.dumps([places(text) for text in json.load(sys.stdin)]))
