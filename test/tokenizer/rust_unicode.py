"""Prints sdk/src/compile/pack/tokenizer/rust-unicode.json: properties of code points in Hugging Face's Rust tokenizers.

    pip install tokenizers unicodedata2 && python test/tokenizer/rust_unicode.py > sdk/src/compile/pack/tokenizer/rust-unicode.json
"""

import json
import unicodedata

import tokenizers
import unicodedata2
from tokenizers.normalizers import NFD, BertNormalizer, StripAccents
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel

from ranges import ranges

CHARACTERS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]


def bert(**on):
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    return BertNormalizer(**{**off, **on}).normalize_str


clean, chinese, strip = bert(clean_text=True), bert(handle_chinese_chars=True), bert(strip_accents=True)
nfd = NFD().normalize_str
pieces = BertPreTokenizer().pre_tokenize_str

removed = [c for c in CHARACTERS if clean(f"a{c}a") == "aa"]
punctuation = [c for c in CHARACTERS if len(pieces(f"a{c}a")) == 3]
ideographs = [c for c in CHARACTERS if chinese(f"a{c}a") == f"a {c} a"]
words = ByteLevel(add_prefix_space=False, use_regex=True).pre_tokenize_str
letters = [c for c in CHARACTERS if len(words(f"a{c}")) == 1]
numbers = [c for c in CHARACTERS if len(words(f"1{c}")) == 1]
marks = [c for c in CHARACTERS if StripAccents().normalize_str(f"a{c}a") == "aa"]
nonspacing = {c for c in CHARACTERS if strip(f"a{c}") == "a"}

# One mark of each combining class that the tokenizers know: NFD sorts a known mark with a mark of class 1, or, if its own
# class is 1, with a mark of class 202.
FIRST, SECOND = "\u0334", "\u0321"
witnesses = {}
for c in map(chr, range(0x3000)):
    k = unicodedata.combining(c)
    known = nfd(f"a{SECOND}{c}") == f"a{c}{SECOND}" if k == 1 else nfd(f"a{c}{FIRST}") == f"a{FIRST}{c}"
    if k and known and nfd(c) == c:
        witnesses.setdefault(k, c)
CLASSES = sorted(witnesses)


def combining_class(c):
    """Returns the combining class of c; 0 if NFD does not reorder c."""
    if c in witnesses.values():
        return unicodedata.combining(c)
    larger = [k for k in CLASSES if nfd(f"a{witnesses[k]}{c}") == f"a{c}{witnesses[k]}"]
    smaller = [k for k in CLASSES if nfd(f"a{c}{witnesses[k]}") == f"a{witnesses[k]}{c}"]
    return max(set(CLASSES) - set(larger)) if larger or smaller else 0


classed = {}
for c in CHARACTERS:
    if nfd(c) != c:
        continue
    if combining_class(c):
        classed.setdefault(combining_class(c), []).append(c)

# Characters that newer versions of Unicode decompose, but the tokenizers do not. All of them are new characters, because
# Unicode never adds a decomposition to an existing character.
LATER = [0x105C9, 0x105E4, 0x11383, 0x11385, 0x1138E, 0x11391, 0x113C5, 0x113C7, 0x113C8, 0x11938,
         *range(0x16121, 0x16129), 0x16D68, 0x16D69, 0x16D6A]
later = [chr(point) for point in LATER if nfd(chr(point)) == chr(point)]

# Characters that newer versions of Unicode reorder, decompose or compose, but the tokenizers do not.
newer = {c for c in CHARACTERS if unicodedata2.combining(c) and nfd(c) == c and combining_class(c) == 0}
for c in CHARACTERS:
    if nfd(c) != unicodedata2.normalize("NFD", c):
        first, *second = [chr(int(part, 16)) for part in unicodedata2.decomposition(c).split()]
        newer |= {c, first, *(part for part in second if unicodedata2.combining(part) == 0)}

sets = {
    "removed": removed,
    "punctuation": punctuation,
    "ideographs": ideographs,
    "nonspacing": sorted(nonspacing),
    "undecomposed": later,
    "apart": sorted(newer),
    "letters": letters,
    "numbers": numbers,
    "marks": marks,
}
tables = {
    "source": f"tokenizers {tokenizers.__version__}, read by test/tokenizer/rust_unicode.py",
    "sets": {name: ranges(map(ord, characters)) for name, characters in sets.items()},
    "combining": {k: ranges(map(ord, classed[k])) for k in sorted(classed)},
}
print(json.dumps(tables, indent=2))
