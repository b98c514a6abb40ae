"""Computes token ids with Hugging Face's Rust tokenizers: rust_ids.py <tokenizer.json> < texts.json > ids.json

Reads a list of texts and writes a list of id lists: with special tokens, without truncation and padding.
"""

import json
import sys

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(sys.argv[1])
tokenizer.no_truncation()
tokenizer.no_padding()
sys.stdout.write(json.dumps([tokenizer.encode(text).ids for text in json.load(sys.stdin)]))
