"""Prints sdk/src/compile/pack/tokenizer/normalizers/rust-normalizers.json: sets of code points that Hugging Face's Rust normalizers use.

    pip install tokenizers unicodedata2 && python test/tokenizer/rust_normalizers.py > sdk/src/compile/pack/tokenizer/normalizers/rust-normalizers.json
"""

import json

import tokenizers
import unicodedata2
from tokenizers.normalizers import NFD, NFKD, StripAccents

from ranges import ranges

CHARACTERS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
strip, nfd, nfkd = StripAccents().normalize_str, NFD().normalize_str, NFKD().normalize_str

marks = [c for c in CHARACTERS if strip(f"a{c}") == "a"]

# Combining classes never change. Characters that are newer than the tokenizers' Unicode version have class 0 there.
combining = {}
# Characters that newer versions of Unicode reorder, decompose or compose, but the tokenizers do not.
apart = set()
for c in CHARACTERS:
    # A mark of class 1 or 202 moves before or after every mark of another class.
    k = unicodedata2.combining(c)
    if k and nfd(c) == c and (nfd(f"a\u0321{c}") != f"a{c}\u0321" if k == 1 else nfd(f"a{c}\u0334") != f"a\u0334{c}"):
        apart.add(c)
    elif k and nfd(c) == c:
        combining.setdefault(k, []).append(c)
    if nfkd(c) != unicodedata2.normalize("NFKD", c):
        apart.add(c)
    if nfd(c) != unicodedata2.normalize("NFD", c):
        first, *second = [chr(int(part, 16)) for part in unicodedata2.decomposition(c).split()]
        apart |= {first, *(part for part in second if unicodedata2.combining(part) == 0)}

print(json.dumps({
    "source": f"tokenizers {tokenizers.__version__}, read by test/tokenizer/rust_normalizers.py",
    "sets": {"marks": ranges(map(ord, marks)), "apart": ranges(map(ord, sorted(apart)))},
    "combining": {k: ranges(map(ord, combining[k])) for k in sorted(combining)},
}, indent=2))
