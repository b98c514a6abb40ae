"""Answers inputs with transformers, in float32:

    python pipelines.py <head> <model folder> <inputs.json> <answers.json>

Writes one object per input, in the format of `HeadAnswer` in head-answer.ts. A margin is how far every logit must move, at
least, before a choice changes. Needs torch and transformers; `answer` needs transformers 5.2, the last version with a pipeline
for it.
"""

import json
import math
import string
import sys
from pathlib import Path

import torch
import transformers
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer, pipeline

STRATEGIES = ("none", "simple", "first", "average", "max")
# How many of the highest weights of a sparse vector are compared.
WEIGHTS = 50


def opened(task, folder):
    """Returns a pipeline, and a list to which it adds the outputs of each run of the model."""
    made = pipeline(task, model=folder, tokenizer=folder, device="cpu", dtype=torch.float32)
    runs = []
    made.model.register_forward_hook(lambda _module, _inputs, output: runs.append(output))
    return made, runs


def gap(logits):
    """Half of the distance between the two highest logits."""
    first, second = sorted(logits, reverse=True)[:2]
    return (first - second) / 2


def classify(folder, inputs):
    answer_of, runs = opened("text-classification", folder)
    is_multi_label = answer_of.model.config.problem_type == "multi_label_classification"
    for each in inputs:
        asked = each if isinstance(each, str) else dict(text=each[0], text_pair=each[1])
        found = answer_of(asked, top_k=None, truncation=True)
        logits = runs.pop().logits[0].tolist()
        names = answer_of.model.config.id2label
        if is_multi_label:
            choices = [dict(pick=f"{names[i]}: {'yes' if logit > 0 else 'no'}", margin=abs(logit)) for i, logit in enumerate(logits)]
        elif len(logits) == 1:
            choices = [dict(pick="positive" if logits[0] > 0 else "negative", margin=abs(logits[0]))]
        else:
            choices = [dict(pick=found[0]["label"], margin=gap(logits))]
        yield dict(text=" ".join(label["label"] for label in found), numbers=[label["score"] for label in found], choices=choices)


def rerank(folder, inputs):
    score_of, runs = opened("text-classification", folder)
    for query, documents in inputs:
        scores = [score_of(dict(text=query, text_pair=document))["score"] for document in documents]
        logits = [float(run.logits[0, 0]) for run in runs]
        runs.clear()
        order = sorted(range(len(documents)), key=lambda i: -logits[i])
        yield dict(text=" ".join(map(str, order)), numbers=[scores[i] for i in order],
                   choices=[dict(pick=str(order[0]), margin=gap(logits))])


def tag(folder, inputs):
    tag_of, runs = opened("token-classification", folder)
    for text in inputs:
        answers = {}
        for strategy in STRATEGIES:
            runs.clear()
            answers[strategy] = tag_of(text, aggregation_strategy=strategy, ignore_labels=[])
        special = tag_of.tokenizer(text, return_special_tokens_mask=True)["special_tokens_mask"]
        rows = [row for row, is_special in zip(runs[-1].logits[0].tolist(), special) if not is_special]
        assert len(rows) == len(answers["none"])
        # An entity is written as its label and its place.
        places = {strategy: [f"{each.get('entity', each.get('entity_group'))} {each['start']} {each['end']}" for each in found]
                  for strategy, found in answers.items()}
        yield dict(text="\n".join("; ".join(places[strategy]) for strategy in STRATEGIES),
                   numbers=[float(each["score"]) for strategy in STRATEGIES for each in answers[strategy]],
                   choices=[dict(pick=place, margin=gap(row)) for place, row in zip(places["none"], rows)])


def answer(folder, inputs):
    answer_of, runs = opened("question-answering", folder)
    for question, context in inputs:
        runs.clear()
        found = answer_of(question=question, context=context)
        # The probabilities of a window are divided by a sum, which moves too. With one window it is the same for all answers.
        share = 4 if len(runs) == 1 else 8
        best, second = answer_of(question=question, context=context, top_k=2)
        place = f"{found['start']} {found['end']}"
        yield dict(text=f"{place} {found['answer']}", numbers=[found["score"]],
                   choices=[dict(pick=place, margin=math.log(best["score"] / second["score"]) / share)])


def zero_shot(folder, inputs):
    guess, _ = opened("zero-shot-classification", folder)
    for text, candidates in inputs:
        found = guess(text, candidates)
        first, second = found["scores"][:2]
        yield dict(text=" ".join(found["labels"]), numbers=found["scores"],
                   choices=[dict(pick=found["labels"][0], margin=math.log(first / second) / 2)])


def fill_mask(folder, inputs):
    fill, _ = opened("fill-mask", folder)
    for text in inputs:
        found = fill(text)
        first, second = (each["score"] for each in found[:2])
        yield dict(text=" ".join(each["token_str"] for each in found) + f"\n{found[0]['sequence']}",
                   numbers=[each["score"] for each in found],
                   choices=[dict(pick=str(found[0]["token"]), margin=math.log(first / second) / 2)])


def sparse(folder, inputs):
    """transformers has no pipeline for SPLADE: https://arxiv.org/abs/2109.10086"""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder, dtype=torch.float32).eval()
    for text in inputs:
        weights = model(**tokenizer(text, return_tensors="pt")).logits[0].relu().log1p().max(0).values
        best = weights.topk(WEIGHTS)
        indices, values = best.indices.tolist(), best.values.tolist()
        yield dict(text=" ".join(map(str, sorted(indices))), numbers=[weights[i].item() for i in sorted(indices)],
                   choices=[dict(pick=str(indices[0]), margin=gap(values))])


def token_vectors(folder, inputs):
    """transformers has no pipeline for ColBERT: https://arxiv.org/abs/2004.12832"""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    from safetensors.torch import load_file

    projection = load_file(f"{folder}/model.safetensors")["linear.weight"]
    marker = tokenizer.convert_tokens_to_ids("[unused1]")
    skipped = torch.tensor(tokenizer.convert_tokens_to_ids(list(string.punctuation)))
    for text in inputs:
        first, *others = tokenizer(text)["input_ids"]
        ids = torch.tensor([[first, marker, *others]])
        states = model(input_ids=ids).last_hidden_state[0][~torch.isin(ids[0], skipped)]
        vectors = torch.nn.functional.normalize(states @ projection.T, dim=-1)
        yield dict(text=str(len(vectors)), numbers=vectors.flatten().tolist(), choices=[])


HEADS = {"classify": classify, "rerank": rerank, "tag": tag, "answer": answer, "zero-shot": zero_shot,
         "fill-mask": fill_mask, "sparse": sparse, "token-vectors": token_vectors}


def main(head, folder, inputs, out):
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    with torch.no_grad():
        answers = list(HEADS[head](folder, json.loads(Path(inputs).read_text(encoding="utf-8"))))
    Path(out).write_text(json.dumps(dict(transformers=transformers.__version__, answers=answers)), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
