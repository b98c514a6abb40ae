"""Prints sdk/src/compile/pack/tokenizer/rust-unicode.ts: what Hugging Face's Rust tokenizers take each code point for.

    pip install tokenizers unicodedata2 && python test/tokenizer/rust_unicode.py > sdk/src/compile/pack/tokenizer/rust-unicode.ts
"""

import unicodedata

import tokenizers
import unicodedata2
from tokenizers.normalizers import NFD, BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel

from ranges import literal

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
nonspacing = {c for c in CHARACTERS if strip(f"a{c}") == "a"}

# A mark of every combining class, as far as the tables have it: the smallest class goes in front of all others.
FIRST, SECOND = "\u0334", "\u0321"
witnesses = {}
for c in map(chr, range(0x3000)):
    k = unicodedata.combining(c)
    known = nfd(f"a{SECOND}{c}") == f"a{c}{SECOND}" if k == 1 else nfd(f"a{c}{FIRST}") == f"a{FIRST}{c}"
    if k and known and nfd(c) == c:
        witnesses.setdefault(k, c)
CLASSES = sorted(witnesses)


def combining_class(c):
    """0 when c stays where it is."""
    if c in witnesses.values():
        return unicodedata.combining(c)
    larger = [k for k in CLASSES if nfd(f"a{witnesses[k]}{c}") == f"a{c}{witnesses[k]}"]
    smaller = [k for k in CLASSES if nfd(f"a{c}{witnesses[k]}") == f"a{witnesses[k]}{c}"]
    return max(set(CLASSES) - set(larger)) if larger or smaller else 0


classed, starters = {}, []
for c in CHARACTERS:
    if nfd(c) != c:
        continue
    if combining_class(c):
        classed.setdefault(combining_class(c), []).append(c)
    elif c in nonspacing:
        starters.append(c)

# Decomposed by newer versions of Unicode: they have no decomposition here, and new ones never come to old characters.
LATER = [0x105C9, 0x105E4, 0x11383, 0x11385, 0x1138E, 0x11391, 0x113C5, 0x113C7, 0x113C8, 0x11938,
         *range(0x16121, 0x16129), 0x16D68, 0x16D69, 0x16D6A]
later = [chr(point) for point in LATER if nfd(chr(point)) == chr(point)]

# Those that newer versions of Unicode order, decompose or compose: here they stay as they are, and apart.
newer = {c for c in CHARACTERS if unicodedata2.combining(c) and nfd(c) == c and combining_class(c) == 0}
for c in CHARACTERS:
    if nfd(c) != unicodedata2.normalize("NFD", c):
        first, *second = [chr(int(part, 16)) for part in unicodedata2.decomposition(c).split()]
        newer |= {c, first, *(part for part in second if unicodedata2.combining(part) == 0)}


def constant(comment, name, characters):
    return f"/** {comment} */\nexport const {name} = {literal(map(ord, characters))};\n"


print(f"// Written by test/tokenizer/rust_unicode.py from tokenizers {tokenizers.__version__}: code points as its tables have them.\n")
print(constant("Control and format characters, private use, NUL and U+FFFD.", "removed", removed))
print(constant("ASCII's symbols and what was punctuation in Unicode 8.", "punctuation", punctuation))
print(constant("Blocks of CJK ideographs.", "ideographs", ideographs))
print(constant("Nonspacing marks.", "nonspacing", sorted(nonspacing)))
print(constant("Nonspacing marks of combining class 0.", "nonspacingStarters", starters))
print(constant("What newer versions of Unicode decompose.", "undecomposed", later))
print(constant("What newer versions of Unicode order, decompose or compose.", "apart", sorted(newer)))
print(constant("Letters.", "letters", letters))
print(constant("Numbers.", "numbers", numbers))
print("/** Characters that have a canonical combining class and no decomposition, by that class. */")
print("export const combining: Record<number, string> = {")
for k in sorted(classed):
    print(f"  {k}: {literal(map(ord, classed[k]), indent='  ')},")
print("};")
