"""Prints sdk/src/compile/pack/tokenizer/normalizers/rust-graphemes.json: grapheme classes of code points in Hugging Face's Rust tokenizers.

    pip install tokenizers && python test/tokenizer/rust_graphemes.py > sdk/src/compile/pack/tokenizer/normalizers/rust-graphemes.json

The script finds the borders of graphemes with the normalizer `Precompiled`. If a grapheme has fewer than six bytes and begins
with a key, `Precompiled` replaces the whole grapheme, including a mark at its end. If `Precompiled` keeps the mark at the end of
a text, the mark's grapheme is longer or does not begin with a key.
"""

import json

import tokenizers
from tokenizers.normalizers import Precompiled

from ranges import ranges

CHARACTERS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]

PICTOGRAPH, CONSONANT, FIRST_MARK = "\u2764", "\u0915", "\u0300"
LEADING, VOWEL, TRAILING = "\u1100", "\u1161", "\u11a8"
KEYS = {"a", PICTOGRAPH, CONSONANT, FIRST_MARK, LEADING, VOWEL, TRAILING}
RESULT = "Z"
# Characters that are not keys. MARK, OTHER_PICTOGRAPH and OTHER_CONSONANT have the same classes as some keys.
MARK, OTHER_PICTOGRAPH, OTHER_CONSONANT, LINKER, JOINER = "\u0302", "\u2600", "\u0916", "\u094d", "\u200d"


def charsmap(keys, result):
    """Builds a double array with a block of 512 units for each node. All keys have the same result."""
    units = {}

    def place(pos, prefix, block):
        nexts = sorted({key[len(prefix)] for key in keys if key.startswith(prefix) and len(key) > len(prefix)})
        base = 512 * block
        leaf = prefix in keys
        units[pos] = units.get(pos, 0) | (pos ^ base) << 10 | leaf << 8
        if leaf:
            units[base] = 1 << 31
        block += 1
        for byte in nexts:
            units[base ^ byte] = byte
            block = place(base ^ byte, prefix + bytes([byte]), block)
        return block

    blocks = place(0, b"", 1)
    array = b"".join(units.get(pos, 0).to_bytes(4, "little") for pos in range(512 * blocks))
    return len(array).to_bytes(4, "little") + array + result.encode() + b"\0"


normalize = Precompiled(charsmap({key.encode() for key in KEYS}, RESULT)).normalize_str


def joins(before, key):
    """Returns whether `key` continues the grapheme of `before`. If so, the grapheme is too long or does not begin with a key, so `Precompiled` keeps the mark."""
    return normalize(before + key + MARK).endswith(MARK)


def extends(character):
    return normalize("a" + character) == RESULT


def class_of(c):
    """Returns the name of a character's class; None for OTHER and for regional indicators, which need no class in a charsmap."""
    if c in "\r\n\u200d":
        return {"\r": "CR", "\n": "LF", JOINER: "ZWJ"}[c]
    # FIRST_MARK begins a grapheme only after a character that nothing can extend.
    if normalize(c + FIRST_MARK + MARK).endswith(RESULT) and c not in KEYS:
        return "CONTROL"
    if extends(c):
        if not joins(OTHER_PICTOGRAPH + c + JOINER, PICTOGRAPH):
            return "SPACING_MARK"
        if joins(OTHER_CONSONANT + c, CONSONANT):
            return "LINKER"
        return "EXTEND" if joins(OTHER_CONSONANT + LINKER + c, CONSONANT) else "EXTEND_APART"
    if c == "a":
        return None
    if joins(c, "a"):
        return "PREPEND"
    if joins(c + LINKER, CONSONANT):
        return "CONSONANT"
    if joins(c + JOINER, PICTOGRAPH):
        return "PICTOGRAPHIC"
    if 0xAC00 <= ord(c) <= 0xD7A3:
        return "LV" if (ord(c) - 0xAC00) % 28 == 0 else "LVT"
    if joins(c, LEADING):
        return "L"
    if joins(c, VOWEL):
        return "V"
    return "T" if joins(c, TRAILING) else None


classes = {}
for c in CHARACTERS:
    name = class_of(c)
    if name:
        classes.setdefault(name, []).append(ord(c))

tables = {name: ranges(classes[name]) for name in sorted(classes)}
source = f"tokenizers {tokenizers.__version__}, read by test/tokenizer/rust_graphemes.py"
print(json.dumps({"source": source, "classes": tables}, indent=2))
