"""Collects texts in many languages from packages of Debian: translated messages (.mo) and pages of manuals (.html, .page).

python texts.py <folder>

Writes vocabulary.txt, calibration.txt and test.jsonl into the folder. A page or a message is in the test in all languages, or in none.
"""

import gettext
import hashlib
import html
import json
import random
import re
import subprocess
import sys
from pathlib import Path

PACKAGES = ["evolution-common", "gimp-data", "gnome-user-docs", "gnucash-common", "wesnoth-1.16-data"]
HELP = "ca cs da de el en-us es et eu fi fr gl hi hu id it ja ko nl pl pt pt-br ru sk sl sv tr vi zh-cn zh-tw"
"""Languages of the test, and the scripts of their letters."""
TESTED = {
    "en": "A-Za-z", "de": "A-Za-z", "fr": "A-Za-z", "fi": "A-Za-z", "ru": "\u0400-\u04ff", "el": "\u0370-\u03ff",
    "ar": "\u0600-\u06ff", "he": "\u0590-\u05ff", "hi": "\u0900-\u097f", "th": "\u0e00-\u0e7f",
    "ja": "\u3040-\u30ff\u4e00-\u9fff", "ko": "\uac00-\ud7af", "zh_CN": "\u4e00-\u9fff",
}
OTHERS = "bg ca cs da es et eu fa gl hr hu id it lt lv mk mr nb_NO nl pl pt pt_BR ro sk sl sr sv ta te tr uk vi zh_TW"
"""Is neither in the vocabulary's texts nor in the calibration texts."""
HELD_OUT = "fi"
"""Languages without spaces: two characters count as a word."""
UNSPACED = {"ja", "th", "zh_CN", "zh_TW"}
TEST = 5_000
LETTER = re.compile(r"[^\W\d_]")
BLOCK = re.compile(r"<(p|h\d|li|td|dt|dd|title)\b[^>]*>(.*?)</\1>", re.S)

folder = Path(sys.argv[1])
trees = folder / "packages"


def fetch():
    """Downloads the packages and unpacks them. A second call finds them."""
    for name in PACKAGES + [f"libreoffice-help-{language}" for language in HELP.split()]:
        tree = trees / name
        if tree.exists():
            continue
        trees.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", name], cwd=trees, check=True)
        [package] = trees.glob(f"{name}_*.deb")
        partial = trees / "partial"
        subprocess.run(["dpkg-deb", "-x", package, partial], check=True)
        partial.rename(tree)
        package.unlink()


def documents(language):
    """Yields each text with the name of its page, or with its message in English."""
    for path in sorted(trees.glob(f"*/**/{language}/LC_MESSAGES/*.mo")):
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog
        for message, text in catalog.items():
            if isinstance(message, str) and message:
                yield message, text
    tag = {"zh_CN": "zh-CN", "zh_TW": "zh-TW", "pt_BR": "pt-BR", "en": "en-US"}.get(language, language)
    manuals = trees.glob(f"libreoffice-help-*/usr/share/libreoffice/help/{tag}/**/*.html")
    pages = trees.glob(f"gnome-user-docs/usr/share/help/{'C' if language == 'en' else language}/**/*.page")
    for path in sorted([*manuals, *pages]):
        for _, text in BLOCK.findall(path.read_text(errors="replace")):
            yield path.name, html.unescape(re.sub(r"<[^>]+>", "", text))


def english_messages():
    """Messages of programs are English: those of the German translation are as good as any."""
    for path in sorted(trees.glob("*/**/de/LC_MESSAGES/*.mo")):
        with path.open("rb") as file:
            for message in gettext.GNUTranslations(file)._catalog:
                if isinstance(message, str):
                    yield message, message


def texts(language):
    """Yields different texts of 5 to 60 words in a language, and whether each is of a document of the test."""
    seen = set()
    found = [*documents(language), *(english_messages() if language == "en" else [])]
    for document, text in found:
        text = " ".join(re.sub(r"(?<=\s)_|\^|_(?=[^\W\d_])", "", text).split())
        words = len(text) / 2 if language in UNSPACED else len(text.split())
        key = re.sub(r"\W|\d", "", text).lower()
        letters = LETTER.findall(text)
        own = re.findall(f"[{TESTED[language]}]", text) if language in TESTED else letters
        if not 5 <= words <= 60 or key in seen or len(own) < 0.6 * len(letters) or len(letters) < 0.5 * len(text):
            continue
        seen.add(key)
        yield text, int(hashlib.sha256(document.encode()).hexdigest(), 16) % 6 == 0


fetch()
chance = random.Random(1)
vocabulary, calibration, test = [], [], []
english = set()
for language in [*TESTED, *OTHERS.split()]:
    found = list(texts(language))
    # Parts that nobody has translated.
    own = [(text, tested) for text, tested in found if language == "en" or text not in english]
    if language == "en":
        english = {text for text, _ in found}
    chance.shuffle(own)
    train = [text for text, tested in own if not tested]
    tested = [text for text, tested in own if tested]
    print(language, len(train), len(tested), file=sys.stderr)
    if language in TESTED:
        test += [{"language": language, "text": text} for text in tested[: -(-TEST // len(TESTED))]]
    if language != HELD_OUT:
        vocabulary += train
        if language in TESTED:
            calibration += train
chance.shuffle(test)
chance.shuffle(calibration)
(folder / "vocabulary.txt").write_text("".join(f"{text}\n" for text in vocabulary))
(folder / "calibration.txt").write_text("".join(f"{text}\n" for text in calibration))
(folder / "test.jsonl").write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in test[:TEST]))
