"""Writes pipelines.json: what transformers' pipelines answer with tiny models and tokenizers, and the models' logits.

All offsets count Unicode code points. Logits are base64 of little-endian float32. The question-answering pipeline is only in
transformers 5.2 and older; answers.py writes its cases. Needs torch and transformers.
"""

import base64
import json
from pathlib import Path

import numpy
import torch
import transformers
from classifiers import drawn
from tiny_tokenizers import TOKENIZERS, tokenizer_of
from transformers import (AutoConfig, AutoModelForMaskedLM, AutoModelForSequenceClassification,
                          AutoModelForTokenClassification, pipeline)

TINY = dict(num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=130, type_vocab_size=2)
WIDTHS = dict(hidden_size=8, intermediate_size=12)
FAMILIES = {
    "bert": WIDTHS,
    "roberta": WIDTHS,
    "xlm-roberta": WIDTHS,
    "electra": WIDTHS | dict(embedding_size=4),
    "distilbert": dict(dim=8, n_layers=2, n_heads=2, hidden_dim=12),
}
TEXTS = [
    "Anna Maria works for Acme Corp. in New York, not in Paris.",
    "Zoë's café in São Paulo doesn't open before 9:30; ask Jürgen-Peter O'Neill.",
    "Visit 東京 and 🗼 Tokyo Tower 👩‍💻 with  two spaces\tand a\nnew line",
    "xylophonists unaffordability",
    "ok",
]


def packed(logits):
    return base64.b64encode(logits.detach().numpy().astype("<f4").tobytes()).decode()


def model_of(family, tokenizer, auto, **keys):
    """Draws a model of a family whose vocabulary is that of a tokenizer."""
    sizes = TINY | FAMILIES[family] | dict(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    config = AutoConfig.for_model(family, **sizes, **keys)
    model = auto.from_config(config).eval()
    model.load_state_dict(drawn({name: tuple(tensor.shape) for name, tensor in model.named_parameters()}), strict=False)
    return model


def recorded(task, model, tokenizer):
    """Returns a pipeline, and the list to which it adds the logits of each run of the model."""
    runs = []
    model.register_forward_hook(lambda _module, _inputs, output: runs.append(output))
    return pipeline(task, model=model, tokenizer=tokenizer, device="cpu"), runs


def logits_of(runs):
    """Returns the logits of the last run, and forgets all runs."""
    last = runs[-1].logits[0]
    runs.clear()
    return last


def score(value):
    return float(f"{value:.8g}")


def names(labels):
    return dict(id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)})


def classified(family, labels, problem_type=None):
    tokenizer = tokenizer_of(TOKENIZERS[family])
    model = model_of(family, tokenizer, AutoModelForSequenceClassification, problem_type=problem_type, **names(labels))
    classify, runs = recorded("text-classification", model, tokenizer)
    texts = []
    for text in TEXTS[:3]:
        answers = []
        for options in ({}, dict(function_to_apply="softmax"), dict(function_to_apply="sigmoid"),
                        dict(function_to_apply="none"), dict(top_k=2)):
            results = classify(text, **dict(top_k=None) | options)
            answers.append(dict(options=options, results=[[each["label"], score(each["score"])] for each in results]))
        texts.append(dict(logits=packed(logits_of(runs)), answers=answers))
    return dict(family=family, labels=labels, problem_type=problem_type, texts=texts)


BIO = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TAGGERS = [
    ("bert", BIO),
    ("roberta", BIO),
    ("xlm-roberta", ["O", "PER", "LOC"]),
    ("electra", ["O", "B-MISC-A", "I-MISC-A", "S-ORG", "I-ORG"]),
    ("distilbert", ["I-LOC", "B-LOC", "O"]),
]

IGNORED = [[], ["O"], ["PER", "B-LOC", "MISC-A"]]


def tagged(family, labels):
    tokenizer = tokenizer_of(TOKENIZERS[family])
    model = model_of(family, tokenizer, AutoModelForTokenClassification, **names(labels))
    tag, runs = recorded("token-classification", model, tokenizer)
    texts = []
    for text in TEXTS:
        encoding = tokenizer(text, return_offsets_mapping=True, return_special_tokens_mask=True)
        answers = []
        for strategy in ("none", "simple", "first", "average", "max"):
            for ignored in IGNORED if strategy in ("none", "simple") else IGNORED[:1]:
                results = tag(text, aggregation_strategy=strategy, ignore_labels=ignored)
                answers.append(dict(strategy=strategy, ignore_labels=ignored, results=[
                    [each.get("entity", each.get("entity_group")), score(each["score"]), each["start"], each["end"]]
                    + ([each["index"]] if "index" in each else []) for each in results]))
        special = encoding["special_tokens_mask"]
        texts.append(dict(
            text=text, ids=encoding["input_ids"], tokens=encoding.tokens(), offsets=sum(map(list, encoding["offset_mapping"]), []),
            word_ids=[-1 if special[i] else word for i, word in enumerate(encoding.word_ids())],
            logits=packed(logits_of(runs)), answers=answers))
    has_prefix = bool(getattr(tokenizer.backend_tokenizer.model, "continuing_subword_prefix", None))
    return dict(family=family, labels=labels, unknown_id=tokenizer.unk_token_id, has_prefix=has_prefix, texts=texts)


TARGETS = [40, 7, 33, 40]


def filled(family):
    tokenizer = tokenizer_of(TOKENIZERS[family])
    model = model_of(family, tokenizer, AutoModelForMaskedLM)
    fill, runs = recorded("fill-mask", model, tokenizer)
    mask = tokenizer.mask_token
    targets = tokenizer.convert_ids_to_tokens(TARGETS)
    texts = []
    for text in (f"Anna works {mask} Paris.", f"{mask} is not {mask} in New York."):
        answers = []
        for options in ({}, dict(top_k=3), dict(targets=targets), dict(targets=targets, top_k=2)):
            results = fill(text, **options)
            rows = results if isinstance(results[0], list) else [results]
            answers.append(dict(
                top_k=options.get("top_k"),
                targets=TARGETS if "targets" in options else None,
                results=[[[each["token"], score(each["score"]), each["token_str"], each["sequence"]] for each in row]
                         for row in rows]))
        masked = torch.tensor(tokenizer(text)["input_ids"]) == tokenizer.mask_token_id
        texts.append(dict(text=text, logits=packed(logits_of(runs)[masked]), answers=answers))
    return dict(family=family, vocabulary=len(tokenizer), mask=dict(id=tokenizer.mask_token_id, token=mask),
                tokenizer=json.loads(tokenizer.backend_tokenizer.to_str()), texts=texts)


CANDIDATES = ["travel", "cooking", "dancing"]
INFERENCE = [
    ("bert", ["contradiction", "neutral", "entailment"]),
    ("roberta", ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"]),
    ("distilbert", ["entailment", "not_entailment"]),
    ("electra", ["neutral", "Entails", "contradiction"]),
]


def guessed(family, labels):
    tokenizer = tokenizer_of(TOKENIZERS[family])
    model = model_of(family, tokenizer, AutoModelForSequenceClassification, **names(labels))
    guess, runs = recorded("zero-shot-classification", model, tokenizer)
    answers = []
    for candidates in (CANDIDATES, CANDIDATES[:1]):
        for multi_label in (False, True):
            found = guess(TEXTS[0], candidates, multi_label=multi_label)
            answers.append(dict(
                candidates=candidates, multi_label=multi_label, logits=[packed(run.logits[0]) for run in runs],
                results=[[label, score(value)] for label, value in zip(found["labels"], found["scores"])]))
            runs.clear()
    return dict(family=family, labels=labels, answers=answers)


def vectors():
    """Compares, shortens and packs vectors with torch and numpy."""
    random = numpy.random.default_rng(19)
    rows = torch.tensor(random.normal(size=(4, 20)).astype(numpy.float32))
    rows[1, 3:6] = 0
    normalize, cosine = torch.nn.functional.normalize, torch.nn.functional.cosine_similarity
    return dict(
        dimensions=20, rows=packed(rows), cosines=[score(value) for value in cosine(rows[:1], rows).tolist()],
        shortened={n: packed(normalize(rows[:, :n])) for n in (1, 8, 20)},
        bits=numpy.packbits(rows.numpy() > 0, axis=-1).tolist(),
        sigmoids=[score(value) for value in torch.sigmoid(rows[0]).tolist()],
        sparse=[dict(indices=row.relu().to_sparse().indices()[0].tolist(), values=packed(row.relu().to_sparse().values()))
                for row in rows],
    )


def write(file, **made):
    written = dict(made_with=f"transformers {transformers.__version__}", **made)
    (Path(__file__).parent / file).write_text(json.dumps(written, ensure_ascii=False, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    write(
        "pipelines.json",
        classify=[
            classified("bert", ["no", "maybe", "yes"], "single_label_classification"),
            classified("roberta", ["toxic", "obscene", "threat", "insult"], "multi_label_classification"),
            classified("xlm-roberta", ["negative", "neutral", "positive"]),
            classified("distilbert", ["relevant"]),
            classified("electra", ["stars"], "regression"),
        ],
        tag=[tagged(*arguments) for arguments in TAGGERS],
        fill_mask=[filled(family) for family in ("bert", "roberta", "xlm-roberta")],
        zero_shot=[guessed(*arguments) for arguments in INFERENCE],
        vectors=vectors(),
    )
