"""Trains heads of tokens, for measuring how much int8 changes their answers:

    python bench/heads/train_heads.py <encoder folder> <emerging.test.annotated> <dev-v1.1.json> <out>

One half of WNUT17 (sentences) and of SQuAD (articles) trains the heads, the other half is written to held-out.json. Writes two
model folders, <out>/tag and <out>/answer: the encoder with a linear head, trained together. Their weights are for measurements
only: a few hundred sentences and a few thousand questions make no good model. Needs torch and transformers.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModelForQuestionAnswering, AutoModelForTokenClassification, AutoTokenizer

SEED, BATCH, RATE, HEAD_RATE = 1, 16, 1e-4, 1e-3
TAG_EPOCHS, ANSWER_EPOCHS = 8, 2
MAX_TOKENS = 192
TRAINING_QUESTIONS = 3_000
IGNORED = -100


def read_sentences(path):
    """Yields the words and labels of each sentence of a file with a word, a tab and a label per line."""
    for block in Path(path).read_text(encoding="utf-8").split("\n\n"):
        rows = [line.split("\t") for line in block.splitlines() if "\t" in line]
        if rows:
            yield [word for word, _ in rows], [label for _, label in rows]


def tagging(tokenizer, path):
    """Returns examples of token ids and labels, and the names of the labels. Only the first token of a word has a label."""
    sentences = list(read_sentences(path))
    names = sorted({label for _, labels in sentences for label in labels})
    examples = []
    for words, labels in sentences:
        encoded = tokenizer(words, is_split_into_words=True, truncation=True, max_length=MAX_TOKENS)
        of_word = encoded.word_ids()
        firsts = [word is not None and word != before for word, before in zip(of_word, [None, *of_word])]
        gold = [names.index(labels[word]) if first else IGNORED for word, first in zip(of_word, firsts)]
        examples.append(dict(ids=encoded["input_ids"], labels=gold))
    return examples, names


def answering(tokenizer, path):
    """Returns examples of token ids, token types and the first and last token of the first answer, for each article."""
    articles = []
    for article in json.loads(Path(path).read_text(encoding="utf-8"))["data"]:
        examples = []
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                answer = asked["answers"][0]
                begin, end = answer["answer_start"], answer["answer_start"] + len(answer["text"])
                encoded = tokenizer(asked["question"], paragraph["context"], return_offsets_mapping=True)
                inside = [
                    i for i, (first, last) in enumerate(encoded["offset_mapping"])
                    if encoded.sequence_ids()[i] == 1 and last > begin and first < end
                ]
                if inside and len(encoded["input_ids"]) <= MAX_TOKENS:
                    examples.append(dict(ids=encoded["input_ids"], secondFrom=encoded["token_type_ids"].index(1),
                                         start=inside[0], end=inside[-1]))
        articles.append(examples)
    return articles


def padded(rows, fill=0):
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


def inputs_of(batch):
    lengths = [len(each["ids"]) for each in batch]
    types = [[int(i >= each.get("secondFrom", n)) for i in range(n)] for each, n in zip(batch, lengths)]
    return dict(input_ids=padded([each["ids"] for each in batch]), token_type_ids=padded(types),
                attention_mask=padded([[1] * n for n in lengths]))


def train(auto, encoder_folder, folder, examples, targets_of, epochs, **config):
    """Trains the encoder with a new head, and writes both as a model folder. `targets_of` returns the targets of a batch."""
    torch.manual_seed(SEED)
    model = auto.from_pretrained(encoder_folder, **config).train()
    ours = [parameter for name, parameter in model.named_parameters() if name.startswith(model.base_model_prefix)]
    head = [parameter for name, parameter in model.named_parameters() if not name.startswith(model.base_model_prefix)]
    optimizer = torch.optim.AdamW([dict(params=ours, lr=RATE), dict(params=head, lr=HEAD_RATE)])
    steps = epochs * -(-len(examples) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(epochs):
        for chosen in torch.randperm(len(examples)).split(BATCH):
            batch = [examples[i] for i in chosen]
            optimizer.zero_grad()
            model(**inputs_of(batch), **targets_of(batch)).loss.backward()
            optimizer.step()
            schedule.step()
    model.eval().save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(Path(encoder_folder) / file, folder / file)


def main(encoder_folder, wnut, squad, out):
    tokenizer = AutoTokenizer.from_pretrained(encoder_folder)

    examples, names = tagging(tokenizer, wnut)
    labels_of = lambda batch: dict(labels=padded([each["labels"] for each in batch], IGNORED))
    train(AutoModelForTokenClassification, encoder_folder, out / "tag", examples[::2], labels_of, TAG_EPOCHS,
          id2label=dict(enumerate(names)), label2id={name: i for i, name in enumerate(names)})
    (out / "tag" / "held-out.json").write_text(json.dumps(examples[1::2]))

    articles = answering(tokenizer, squad)
    asked, held_out = ([each for article in articles[half::2] for each in article] for half in (0, 1))
    spans_of = lambda batch: dict(start_positions=torch.tensor([each["start"] for each in batch]),
                                  end_positions=torch.tensor([each["end"] for each in batch]))
    train(AutoModelForQuestionAnswering, encoder_folder, out / "answer", spread(asked, TRAINING_QUESTIONS), spans_of,
          ANSWER_EPOCHS)
    (out / "answer" / "held-out.json").write_text(json.dumps(held_out))


def spread(examples, count):
    """Chooses `count` examples at equal distances."""
    return [examples[i * len(examples) // count] for i in range(count)]


if __name__ == "__main__":
    *inputs, folder = sys.argv[1:]
    main(*inputs, Path(folder))
