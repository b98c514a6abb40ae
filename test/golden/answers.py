"""Writes answers.json: what transformers' question-answering pipeline answers with tiny models, and the models' logits.

The file has the same format as pipelines.json. Needs torch and transformers 5.2, the last version with this pipeline.
"""

from pipelines import TEXTS, TOKENIZERS, model_of, packed, recorded, score, tokenizer_of, write
import torch
from transformers import AutoModelForQuestionAnswering

CONTEXTS = [" ".join(TEXTS[:2]), TEXTS[2], "New York. new york? NEW YORK!", "ok"]
QUESTION = "Where does Anna live?"
OPTIONS = [
    {},
    dict(top_k=4),
    dict(top_k=3, align_to_words=False),
    dict(align_to_words=False),
    dict(top_k=3, max_answer_len=3),
    dict(top_k=5, handle_impossible_answer=True),
    dict(max_answer_len=1, handle_impossible_answer=True),
]
# Maximum tokens of a window, and tokens that it shares with the next one.
WINDOWS = [dict(max_seq_len=40, doc_stride=8), dict(max_seq_len=128, doc_stride=64)]


def windows_of(tokenizer, context, sizes, runs):
    encoding = tokenizer(
        QUESTION, context, truncation="only_second", max_length=sizes["max_seq_len"], stride=sizes["doc_stride"],
        return_overflowing_tokens=True, return_offsets_mapping=True)
    assert len(runs) == len(encoding["input_ids"])
    for i, run in enumerate(runs):
        mask = [int(sequence == 1) for sequence in encoding.sequence_ids(i)]
        yield dict(
            logits=packed(torch.stack([run.start_logits[0], run.end_logits[0]], -1)), context_mask=mask,
            offsets=sum(map(list, encoding["offset_mapping"][i]), []),
            word_ids=[-1 if word is None else word for word in encoding.word_ids(i)])


def answered(family):
    tokenizer = tokenizer_of(TOKENIZERS[family])
    model = model_of(family, tokenizer, AutoModelForQuestionAnswering)
    answer, runs = recorded("question-answering", model, tokenizer)
    cases = []
    for context in CONTEXTS:
        for sizes in WINDOWS if context is CONTEXTS[0] else WINDOWS[1:]:
            answers = []
            for options in OPTIONS:
                runs.clear()
                found = answer(question=QUESTION, context=context, **sizes, **options)
                found = found if isinstance(found, list) else [found]
                # With few spans, the pipeline also returns some that end before they begin. Their score is 0.
                answers.append(dict(options=options, results=[
                    [each["answer"], score(each["score"]), int(each["start"]), int(each["end"])]
                    for each in found if each["score"] > 0]))
            cases.append(dict(context=context, windows=list(windows_of(tokenizer, context, sizes, runs)), answers=answers))
    return dict(family=family, cases=cases)


if __name__ == "__main__":
    write("answers.json", answer=[answered(family) for family in ("bert", "roberta", "xlm-roberta", "distilbert")])
