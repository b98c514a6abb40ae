"""Prints sdk/src/compile/pack/tokenizer/unigram/rust-graphemes.ts: where Hugging Face's Rust tokenizers cut texts into graphemes.

    pip install tokenizers && python test/tokenizer/rust_graphemes.py > sdk/src/compile/pack/tokenizer/unigram/rust-graphemes.ts

`Precompiled` replaces a grapheme of fewer than six bytes as a whole when it begins with a key. So what comes after a key is
dropped when it belongs to the same grapheme, and that grapheme is short; a mark that is kept tells of a longer one.
"""

import tokenizers
from tokenizers.normalizers import Precompiled

from ranges import literal

CHARACTERS = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]

PICTOGRAPH, CONSONANT, FIRST_MARK = "\u2764", "\u0915", "\u0300"
LEADING, VOWEL, TRAILING = "\u1100", "\u1161", "\u11a8"
KEYS = {"a", PICTOGRAPH, CONSONANT, FIRST_MARK, LEADING, VOWEL, TRAILING}
RESULT = "Z"
# No keys, but of the same classes.
MARK, OTHER_PICTOGRAPH, OTHER_CONSONANT, LINKER, JOINER = "\u0302", "\u2600", "\u0916", "\u094d", "\u200d"


def charsmap(keys, result):
    """A double array of one block of 512 units for every node: keys of a few bytes, all with the same result."""
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
    """Whether the key belongs to the grapheme of what is before it: then it is too long, or begins with no key, and the mark stays."""
    return normalize(before + key + MARK).endswith(MARK)


def extends(character):
    return normalize("a" + character) == RESULT


def class_of(c):
    """None for all others, and for regional indicators: graphemes of these have six bytes or more, or are one character."""
    if c in "\r\n\u200d":
        return {"\r": "CR", "\n": "LF", JOINER: "ZWJ"}[c]
    # The first mark begins a grapheme only after what none can go on after.
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

print(f"// Written by test/tokenizer/rust_graphemes.py from tokenizers {tokenizers.__version__}: code points as its graphemes have them.\n")
print("/** Code points by their class in `runtime/tokenizer/packed/unigram/grapheme-classes.ts`; all others are `OTHER`. */")
print("export const graphemes = {")
for name in sorted(classes):
    print(f"  {name}: {literal(classes[name], indent='  ')},")
print("} as const;")
