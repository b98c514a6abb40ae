"""Kinds of tiny model folders: how their authors' libraries save them, and what these answer.

Needs torch, transformers and sentence-transformers. With pylate, only the folders of ColBERT are drawn.
"""

import importlib.util
import json
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import sentence_transformers
import torch
import transformers
from classifiers import drawn
from folder_keys import POSITIONS, TOKENS
from safetensors.torch import load_file, save_file
from sentence_transformers import CrossEncoder, SentenceTransformer, SparseEncoder
from sentence_transformers.models import Dense, LayerNorm, Normalize, Pooling, Transformer
from tiny_tokenizers import byte_pairs, lower_unigrams, marked_word_piece, tokenizer_of, trimmed_unigrams, unigrams, word_piece
from transformers import AutoConfig, pipeline

TEXTS = [
    "Anna travels to Paris.", "OPEN the Café in NEW York!", "Maria a\u0301 works \u00e9\u00c9", "\u6771\u4eac tokyo\u4e2d live",
    "ask \U0001f600 the \U0001f469\u200d\U0001f680", "where does anna work, not in tokyo? " * 5, "  the  cafe ", " ",
    "[MASK] anna <mask> [SEP] </s> x", "<s>anna[CLS] [NEW]new <new>", "an\tapple\nin\u00a0 two\u200b\u0000 lines", "it's 42% \uff21\uff22 \ufb01sh",
]
PAIRS = [["Where does Anna work?", "Anna works for Acme Corp."], ["live in TOKYO", "visit the tower, " * 9], ["Caf\u00e9 [SEP]", " a </s> b"]]
# Of these, a text has many numbers.
SOME = [TEXTS[at] for at in (0, 1, 5, 6, 8, 11)]
LABELS = dict(id2label={0: "no", 1: "maybe", 2: "yes"}, label2id={"no": 0, "maybe": 1, "yes": 2})
TAGS = dict(id2label={0: "O", 1: "B-A", 2: "I-A"}, label2id={"O": 0, "B-A": 1, "I-A": 2})
MAX_TOKENS = 24
# Tokens that two parts of a context share.
STRIDE = 4
WIDTH, NARROW = 16, 12
NAMED = {f"{name}_token" for name in TOKENS}
SIZES = dict(hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20, max_position_embeddings=POSITIONS)
DISTILBERT = dict(dim=WIDTH, n_layers=2, n_heads=2, hidden_dim=20, max_position_embeddings=POSITIONS)
RELATIVE = dict(relative_attention=True, position_buckets=4, norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"],
                position_biased_input=False, max_relative_positions=-1)

# Family: tokenizer, its class, and keys of config.json.
FAMILIES = {
    "bert": (word_piece, "BertTokenizer", SIZES),
    "distilbert": (word_piece, "DistilBertTokenizer", DISTILBERT),
    "electra": (word_piece, "ElectraTokenizer", SIZES | dict(embedding_size=8)),
    "mpnet": (marked_word_piece, "MPNetTokenizer", SIZES),
    "roberta": (byte_pairs, "RobertaTokenizer", SIZES),
    "xlm-roberta": (unigrams, "XLMRobertaTokenizer", SIZES),
    "albert": (lower_unigrams, "AlbertTokenizer", SIZES | dict(embedding_size=8)),
    # Families without a table of positions. The libraries cut no text of these if no key says its maximum length.
    "deberta-v2": (trimmed_unigrams, "DebertaV2Tokenizer", SIZES | RELATIVE | dict(max_position_embeddings=512)),
    "modernbert": (byte_pairs, "PreTrainedTokenizerFast", SIZES | dict(local_attention=8, max_position_embeddings=512)),
}


def save_raw(raw, family, kind):
    """Saves a model of transformers and its tokenizer."""
    make, cls, keys = FAMILIES[family]
    tokenizer = tokenizer_of(make)
    if kind.asks == "token-vectors":
        tokenizer.add_tokens(["[unused0]", "[unused1]"])
    tokenizer.save_pretrained(raw)
    settings = json.loads((raw / "tokenizer_config.json").read_text()) | dict(tokenizer_class=cls, model_max_length=MAX_TOKENS)
    if family == "modernbert":
        settings["model_input_names"] = ["input_ids", "attention_mask"]
    (raw / "tokenizer_config.json").write_text(json.dumps(settings))
    special = {f"{name}_token_id": tokenizer.convert_tokens_to_ids(str(token)) for name, token in
               dict(pad=tokenizer.pad_token, bos=tokenizer.cls_token, eos=tokenizer.sep_token, cls=tokenizer.cls_token,
                    sep=tokenizer.sep_token).items()}
    config = AutoConfig.for_model(family, vocab_size=len(tokenizer), **keys | special | kind.config)
    getattr(transformers, f"AutoModel{kind.model}").from_config(config).save_pretrained(raw)


def keep(raw, folder):
    """Leaves a folder as transformers saves it. Its tokens are listed as in versions before 4.34."""
    shutil.copytree(raw, folder)
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    settings.pop("added_tokens_decoder", None)
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    named = {key: value for key, value in settings.items() if key in NAMED}
    (folder / "special_tokens_map.json").write_text(json.dumps(named))


def save_modules(cls, make, **options):
    """Saves a model of sentence-transformers with modules behind the Transformer."""
    def save(raw, folder):
        cls(modules=[Transformer(str(raw), max_seq_length=MAX_TOKENS), *make()], device="cpu", **options).save_pretrained(str(folder))
    return save


def save_as(cls, **options):
    """Saves a model as a class of a library reads it."""
    return lambda raw, folder: cls(str(raw), device="cpu", **options).save_pretrained(str(folder))


def save_stanford(raw, folder):
    """Saves what Stanford's ColBERT does: no module, and the projection beside BERT."""
    shutil.copytree(raw, folder)
    tensors = load_file(raw / "model.safetensors")
    renamed = {f"bert.{name}": tensor for name, tensor in tensors.items()} | {"linear.weight": torch.zeros(NARROW, WIDTH)}
    save_file(renamed, folder / "model.safetensors", metadata=dict(format="pt"))
    config = json.loads((raw / "config.json").read_text()) | dict(architectures=["HF_ColBERT"])
    (folder / "config.json").write_text(json.dumps(config))
    metadata = dict(query_token_id="[unused0]", doc_token_id="[unused1]", query_token="[Q]", doc_token="[D]", query_maxlen=10, doc_maxlen=20,
                    mask_punctuation=True, attend_to_mask_tokens=False, dim=NARROW, similarity="cosine", bsize=32)
    (folder / "artifact.metadata").write_text(json.dumps(metadata))


def embed(folder):
    model = SentenceTransformer(folder, device="cpu")
    # One text at a time: padding is no part of a text.
    vectors = model.encode(TEXTS, batch_size=1)
    return [*vectors.tolist(), model.similarity(vectors[:1], vectors[1:]).flatten().tolist()]


def rerank(folder):
    return [CrossEncoder(folder, device="cpu").predict(PAIRS, batch_size=1).flatten().tolist()]


def sparse(folder):
    found = SparseEncoder(folder, device="cpu").encode(SOME, batch_size=1, convert_to_sparse_tensor=False).tolist()
    return [{str(at): value for at, value in enumerate(row) if value > 0} for row in found]


def classify(folder):
    found = pipeline("text-classification", model=folder, device="cpu", top_k=None)(TEXTS, truncation=True)
    return [{each["label"]: each["score"] for each in row} for row in found]


def utf16(text, at):
    return len(text[:at].encode("utf-16-le")) // 2


def tag(folder):
    found = pipeline("token-classification", model=folder, device="cpu", aggregation_strategy="first", ignore_labels=[])(TEXTS)
    return [{f"{at} {each['entity_group']} {utf16(text, each['start'])}-{utf16(text, each['end'])}": each["score"]
             for at, each in enumerate(row)} for text, row in zip(TEXTS, found)]


def answer(folder):
    ask = pipeline("question-answering", model=folder, device="cpu")
    found = [ask(question=question, context=context, top_k=2, doc_stride=STRIDE) for question, context in PAIRS]
    # With few spans, the pipeline also returns some that end before they begin. Their score is 0.
    return [{f"{utf16(context, each['start'])}-{utf16(context, each['end'])}": each["score"] for each in row if each["score"] > 0}
            for (_, context), row in zip(PAIRS, [row if isinstance(row, list) else [row] for row in found])]


def token_vectors(folder):
    model = ColBERT(folder, device="cpu")
    options = dict(batch_size=1, show_progress_bar=False)
    return [rows.flatten().tolist() for is_query in (True, False) for rows in model.encode(SOME, is_query=is_query, **options)]


def multi_vectors(folder):
    model = sentence_transformers.MultiVectorEncoder(folder, device="cpu")
    found = [*model.encode_query(SOME, batch_size=1), *model.encode_document(SOME, batch_size=1)]
    return [torch.as_tensor(rows).flatten().tolist() for rows in found]


@dataclass(frozen=True)
class Kind:
    """A kind of model folder."""

    # How often it is drawn.
    share: int
    # What the model does.
    asks: str
    save: Callable
    answers: Callable
    families: tuple = tuple(FAMILIES)
    # End of the name of the class in transformers, and keys of config.json.
    model: str = ""
    config: dict = field(default_factory=dict)
    # Whether we refuse the folder as it is saved.
    refused: bool = False


def dense(inputs, outputs, activation):
    return Dense(inputs, outputs, activation_function=activation)


SCORES = dict(module_input_name="sentence_embedding", module_output_name="scores")
PROMPTS = dict(prompts=dict(query="ask for: ", document=""))
CLASSIFIER = "ForSequenceClassification"
POOLED = lambda: [Pooling(WIDTH, pooling_mode="mean")]
KINDS = {
    "embed": Kind(4, "embed", save_modules(SentenceTransformer, lambda: [*POOLED(), Normalize()], **PROMPTS), embed),
    "embed, Dense": Kind(2, "embed", save_modules(
        SentenceTransformer, lambda: [*POOLED(), dense(WIDTH, NARROW, torch.nn.Tanh()), Normalize()], **PROMPTS), embed, refused=True),
    "classify": Kind(2, "classify", keep, classify, model=CLASSIFIER, config=LABELS),
    "rerank": Kind(2, "rerank", save_as(CrossEncoder, num_labels=1), rerank, model=CLASSIFIER, config=dict(num_labels=1)),
    "tag": Kind(1, "tag", keep, tag, model="ForTokenClassification", config=TAGS),
    "sparse": Kind(3, "sparse", save_as(SparseEncoder), sparse, model="ForMaskedLM"),
}
if transformers.__version__ < "5":
    KINDS["answer"] = Kind(1, "answer", keep, answer, model="ForQuestionAnswering")
if importlib.util.find_spec("pylate"):
    from pylate.models import ColBERT

    # Other families are refused, because their expansion tokens attend to fewer tokens than those of transformers.
    SEARCHERS = ("bert", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta", "albert")
    LENGTHS = dict(embedding_size=NARROW, query_length=10, document_length=20)
    # PyLate needs a sentence-transformers that cuts the spaces around texts, which newer versions do not.
    KINDS = {
        "ColBERT of PyLate": Kind(3, "token-vectors", save_as(ColBERT, **LENGTHS), token_vectors, SEARCHERS),
        "ColBERT of Stanford": Kind(2, "token-vectors", save_stanford, token_vectors, ("bert",)),
    }
elif hasattr(sentence_transformers, "MultiVectorEncoder"):
    KINDS["ColBERT of sentence-transformers"] = Kind(
        2, "token-vectors", save_as(sentence_transformers.MultiVectorEncoder), multi_vectors, ("bert", "roberta"), refused=True)
    KINDS["rerank, modules"] = Kind(2, "rerank", save_modules(CrossEncoder, lambda: [
        *POOLED(), dense(WIDTH, WIDTH, torch.nn.GELU()), LayerNorm(WIDTH), Dense(WIDTH, 1, activation_function=torch.nn.Identity(), **SCORES),
    ]), rerank, ("bert", "modernbert"), refused=True)


def save(folder, family, kind):
    """Saves a folder as its library does, and draws its weights. Returns their shapes by file."""
    raw = folder.parent / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    save_raw(raw, family, kind)
    kind.save(raw, folder)
    (folder / "README.md").unlink(missing_ok=True)
    tensors = {}
    for weights in sorted(folder.rglob("model.safetensors")):
        shapes = {tensor: tuple(values.shape) for tensor, values in load_file(weights).items()}
        save_file(drawn(shapes), weights, metadata=dict(format="pt"))
        tensors[str(weights.relative_to(folder))] = " ".join(f"{tensor}={'x'.join(map(str, shape))}" for tensor, shape in shapes.items())
    return tensors


def answers(folder, kind):
    """Returns rows of numbers, with names or without.

    Fails if weights are missing, which the libraries draw: the answers then differ from load to load.
    """
    found = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        found.append([rounded(row) for row in kind.answers(str(folder))])
    if found[0] != found[1]:
        raise ValueError("The answers are drawn at random.")
    return found[0]


def rounded(row):
    names = list(row) if isinstance(row, dict) else None
    values = [float(f"{float(value):.6g}") for value in (row.values() if names else row)]
    if not all(map(math.isfinite, values)):
        raise ValueError("The answers are not finite.")
    return dict(zip(names, values)) if names else values


def json_files(folder):
    """Returns the contents of a folder's JSON files by their paths."""
    files = [*folder.rglob("*.json"), *folder.glob("artifact.metadata")]
    return {str(file.relative_to(folder)): json.loads(Path(file).read_text()) for file in sorted(files)}
