"""Encodes pairs of texts with Hugging Face's Rust tokenizers: rust_pairs.py <tokenizer.json> < pairs.json > encodings.json

Reads a list of [first text, second text, maximum number of tokens], and writes a list of [token ids, token types]: with
special tokens, truncated by `longest_first`, without padding.
"""

import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_padding()


def encoded(first, second, max_tokens):
    tokenizer.enable_truncation(max_tokens, strategy="longest_first")
    encoding = tokenizer.encode(first, second)
    return [encoding.ids, encoding.type_ids]


sys.stdout.write(json.dumps([encoded(*pair) for pair in json.load(sys.stdin)]))
