"""Writes present.json: tiny model folders, and golden files that the authors' libraries write for them.

The golden files come from the Python lines of docs/golden.md, which run here as they are. test/fixtures/present-case.ts writes the
folders and draws the same weights. `npx biome check --write` formats the file. Needs torch, transformers and sentence-transformers 6.
"""

import contextlib
import json
import re
import tempfile
from pathlib import Path

import sentence_transformers
import torch
import transformers
from classifiers import drawn
from safetensors.torch import save_file
from sentence_transformers import CrossEncoder, SentenceTransformer, SparseEncoder
from sentence_transformers.models import Dense, Normalize, Pooling, Transformer
from tiny_tokenizers import TOKENIZERS, tokenizer_of
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification

HERE = Path(__file__).parent
SIZES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, max_position_embeddings=64)
LONG = "anna maria works for acme corp in new york and she does not live in tokyo where dancing and cooking is the example"
TEXTS = ["Anna works for ACME Corp.", "where does she live?", "a tower in tokyo", "ok", LONG, f"{LONG} before {LONG}"]
PAIRS = [["where does anna live?", text] for text in TEXTS] + [["ok", "this is an example"]]
LABELS = dict(id2label={0: "no", 1: "maybe", 2: "yes"}, label2id={"no": 0, "maybe": 1, "yes": 2})
PROMPTS = dict(query="ask for the example: ", passage="the line: ")


def documented(heading):
    """Returns the first Python block below a heading of docs/golden.md."""
    page = (HERE / "../../docs/golden.md").read_text()
    return re.search(rf"^#+ {heading}\n.*?^```python\n(.*?)^```$", page, re.M | re.S)[1]


def golden_file(heading, **replaced):
    """Runs the documented lines in the current folder, and returns the golden file that they write."""
    code = documented(heading)
    for before, after in replaced.items():
        assert before in code, before
        code = code.replace(before, after)
    exec(compile(code, heading, "exec"), {})
    return Path("golden.jsonl").read_text().splitlines()


def write_base(folder, auto, family="bert", **keys):
    """Writes a folder with drawn weights, and returns them."""
    tokenizer = tokenizer_of(TOKENIZERS[family])
    tokenizer.model_max_length = 64
    config = AutoConfig.for_model(family, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **SIZES, **keys)
    model = auto.from_config(config).eval()
    weights = drawn({name: tuple(tensor.shape) for name, tensor in model.named_parameters()})
    model.load_state_dict(weights, strict=False)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return weights


def edit(path, **keys):
    Path(path).write_text(json.dumps(json.loads(Path(path).read_text()) | keys))


def listed(weights):
    return " ".join(f"{name}={'x'.join(map(str, tensor.shape))}" for name, tensor in weights.items())


def folder_of(folder, weights, modules=None):
    """Describes a folder: its JSON files, and the tensors of each file of weights."""
    files = {str(path.relative_to(folder)): json.loads(path.read_text()) for path in sorted(Path(folder).rglob("*.json"))}
    tensors = {"model.safetensors": listed(weights)} | {path: listed(each) for path, each in (modules or {}).items()}
    return dict(files=files, tensors=tensors)


def embedder(pooling="mean", normalize=True, include_prompt=True, length=32, default=None, family="bert", **tokenizer_keys):
    weights = write_base("base", AutoModel, family)
    modules = [Transformer("base", max_seq_length=length), Pooling(SIZES["hidden_size"], pooling, include_prompt=include_prompt)]
    model = SentenceTransformer(modules=modules + [Normalize()] * normalize, prompts=PROMPTS, default_prompt_name=default, device="cpu")
    model.save_pretrained("my-model")
    edit("my-model/tokenizer_config.json", **tokenizer_keys)
    lines = golden_file("sentence-transformers")
    for name in PROMPTS:
        lines += golden_file("sentence-transformers", **{
            "model.encode(texts)": f"model.encode(texts, prompt_name={name!r})",
            '"text": text,': f'"text": text, "prompt_name": {name!r},'})[:3]
    return folder_of("my-model", weights) | dict(lines=lines)


def lower_cased():
    """tokenizer.json keeps capitals, and tokenizer_config.json overrules it."""
    weights = write_base("base", AutoModel)
    model = SentenceTransformer(modules=[Transformer("base", max_seq_length=32), Pooling(SIZES["hidden_size"])], device="cpu")
    model.save_pretrained("my-model")
    path = Path("my-model/tokenizer.json")
    stored = json.loads(path.read_text())
    stored["normalizer"]["lowercase"] = False
    path.write_text(json.dumps(stored))
    edit("my-model/tokenizer_config.json", tokenizer_class="BertTokenizer", do_lower_case=True)
    return folder_of("my-model", weights) | dict(lines=golden_file("sentence-transformers"))


def classifier():
    weights = write_base("my-model", AutoModelForSequenceClassification, problem_type="single_label_classification", **LABELS)
    return folder_of("my-model", weights) | dict(lines=golden_file("transformers"))


def reranker(tokenizer_class="BertTokenizer", length=64, **options):
    """Without the class, transformers 5 gives both texts of a pair the token type 0."""
    weights = write_base("base", AutoModelForSequenceClassification, num_labels=1)
    edit("base/tokenizer_config.json", tokenizer_class=tokenizer_class)
    CrossEncoder("base", max_length=length, device="cpu", **options).save_pretrained("my-model")
    return folder_of("my-model", weights) | dict(lines=golden_file("Rerankers"))


def sparse():
    weights = write_base("base", AutoModelForMaskedLM)
    SparseEncoder("base", device="cpu").save_pretrained("my-model")
    return folder_of("my-model", weights) | dict(lines=golden_file("Sparse encoders"))


def token_vectors():
    weights = write_base("base", AutoModel)
    dense = Dense(SIZES["hidden_size"], 16, bias=False, activation_function=torch.nn.Identity(),
                  module_input_name="token_embeddings", module_output_name="token_embeddings")
    dense_weights = drawn({"linear.weight": (16, SIZES["hidden_size"])})
    dense.load_state_dict(dense_weights)
    model = SentenceTransformer(modules=[Transformer("base", max_seq_length=32), dense], device="cpu")
    model.save_pretrained("my-model")
    lines = []
    for text in TEXTS:
        rows = model.encode(text, output_value="token_embeddings", convert_to_tensor=True)
        lines.append(json.dumps({"text": text, "embeddings": torch.nn.functional.normalize(rows, dim=-1).tolist()}))
    return folder_of("my-model", weights, {"1_Dense/model.safetensors": dense_weights}) | dict(lines=lines)


CASES = {
    "embed": embedder,
    "embed, cls without Normalize": lambda: embedder("cls", normalize=False),
    "embed, default prompt": lambda: embedder(default="query"),
    "embed, cut at the left": lambda: embedder(truncation_side="left"),
    "embed, prompt not pooled": lambda: embedder(include_prompt=False),
    "embed, lower case": lower_cased,
    "embed, RoBERTa": lambda: embedder(family="roberta"),
    "embed, XLM-RoBERTa": lambda: embedder("max", family="xlm-roberta"),
    "classify": classifier,
    "rerank": reranker,
    "rerank, logits": lambda: reranker(activation_fn=torch.nn.Identity()),
    "rerank, cut at 32": lambda: reranker(length=32),
    "rerank, one token type": lambda: reranker("TokenizersBackend"),
    "sparse": sparse,
    "token-vectors": token_vectors,
}


def shortened(line):
    """Rounds the numbers of a line to eight digits: float32 has seven."""
    return re.sub(r"-?\d+\.\d+(?:e-?\d+)?", lambda found: f"{float(found[0]):.8g}", line)


def made(case):
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("texts.txt").write_text("\n".join(TEXTS) + "\n")
        Path("pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in PAIRS))
        found = case()
    return found | dict(lines=[shortened(line) for line in found["lines"]])


def with_shared(cases):
    """Names equal files of tokenizers, which are large, instead of repeating them."""
    shared = {}
    for case in cases.values():
        text = json.dumps(case["files"].pop("tokenizer.json"))
        case["tokenizer"] = shared.setdefault(text, len(shared))
    return dict(tokenizers=[json.loads(text) for text in shared], cases=cases)


if __name__ == "__main__":
    (HERE / "present.json").write_text(json.dumps(dict(
        made_with=f"sentence-transformers {sentence_transformers.__version__}, transformers {transformers.__version__}",
        **with_shared({name: made(case) for name, case in CASES.items()}),
    )))
