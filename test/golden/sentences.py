"""Writes sentences.json: the vectors that sentence-transformers computes with tiny models, whose files change what it computes.

test/fixtures/golden-folder.ts writes the same folders. Needs torch, transformers and sentence-transformers.
"""

import json

import sentence_transformers
from folders import base, rounded, stored, write
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from sentence_transformers.base.modules import Normalize, Transformer
from tiny_tokenizers import word_piece

PROMPT = "ask for the example: "
TEXTS = ["anna works", "Where does Anna travel? To Paris, Tokyo or New York.", "the open cafe " * 12]
UNPOOLED = {mode: dict(pooling=dict(pooling_mode=mode, include_prompt=False), prompt="query")
            for mode in ("mean", "cls", "max", "lasttoken")}
CASES = {f"prompt out of {mode}": case for mode, case in UNPOOLED.items()} | {
    "lower case": dict(lower=True),
    "another name of the configuration": dict(name="sentence_roberta_config.json", length=8),
    # sentence-transformers has empty prompts for queries and documents that the folder does not name.
    "documents beside a default prompt": dict(prompts={"query": PROMPT}, default="query", search="document"),
    "documents beside a prompt of passages": dict(prompts={"passage": PROMPT}, search="document"),
    "queries beside another default prompt": dict(prompts={"web": PROMPT}, default="web", search="query"),
    "an empty prompt by its name": dict(default="query", prompt="document"),
}


def case(pooling=dict(pooling_mode="mean"), prompt=None, lower=False, length=32, name="sentence_bert_config.json",
         prompts={"query": PROMPT}, default=None, search=None):
    folder = base(word_piece)
    modules = [Transformer(folder), Pooling(32, **pooling), Normalize()]
    model = SentenceTransformer(modules=modules, prompts=prompts, default_prompt_name=default, device="cpu")
    folder, files, tensors = stored(model, {"": model[0].model})
    del files["sentence_bert_config.json"]
    (folder / "sentence_bert_config.json").unlink()
    files[name] = dict(max_seq_length=length, do_lower_case=lower)
    files["tokenizer.json"]["normalizer"]["lowercase"] = not lower
    files["tokenizer_config.json"]["do_lower_case"] = not lower
    for changed in (name, "tokenizer.json", "tokenizer_config.json"):
        (folder / changed).write_text(json.dumps(files[changed]))
    if search:
        # As in a folder that names only its own prompts. sentence-transformers saves those of queries and documents, too.
        files["config_sentence_transformers.json"]["prompts"] = prompts
        (folder / "config_sentence_transformers.json").write_text(json.dumps(files["config_sentence_transformers.json"]))
    saved = SentenceTransformer(str(folder), device="cpu")
    encode = dict(query=saved.encode_query, document=saved.encode_document).get(search, saved.encode)
    vectors = [rounded(vector) for vector in encode(TEXTS, prompt_name=prompt)]
    return dict(files=files, tensors=tensors, texts=TEXTS, prompt=prompt, search=search, vectors=vectors)


if __name__ == "__main__":
    version = f"sentence-transformers {sentence_transformers.__version__}"
    write("sentences.json", version, {name: case(**parts) for name, parts in CASES.items()})
