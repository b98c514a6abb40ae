"""Trains linear heads on a frozen encoder, for measuring how much int8 changes their answers:

    python bench/heads/train_heads.py <encoder folder> <emerging.test.annotated> <dev-v1.1.json> <out>

One half of WNUT17 (sentences) and of SQuAD (articles) trains the heads, the other half is written to held-out.json. Writes two
model folders, <out>/tag and <out>/answer. Their weights are for measurements only: nobody should serve them, because the
encoder was not trained with them. Needs torch and transformers.
"""

import json
import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModel, AutoModelForQuestionAnswering, AutoModelForTokenClassification, AutoTokenizer

SEED, EPOCHS, RATE, BATCH = 1, 60, 3e-3, 64
MAX_TOKENS = 256
MAX_QUESTIONS = 3_000
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


@torch.no_grad()
def hidden_states(encoder, examples):
    """Computes the hidden states [tokens, hidden] of each example."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i]["ids"]))
    found = [None] * len(examples)
    for at in range(0, len(order), BATCH):
        batch = order[at:at + BATCH]
        width = max(len(examples[i]["ids"]) for i in batch)
        pad = lambda values: torch.tensor([[*row, *[0] * (width - len(row))] for row in values])
        lengths = [len(examples[i]["ids"]) for i in batch]
        types = [[int(k >= examples[i].get("secondFrom", n)) for k in range(n)] for i, n in zip(batch, lengths)]
        states = encoder(input_ids=pad([examples[i]["ids"] for i in batch]), token_type_ids=pad(types),
                         attention_mask=pad([[1] * n for n in lengths])).last_hidden_state
        for i, row, n in zip(batch, states, lengths):
            found[i] = row[:n].clone()
    return found


def fit(states, loss_of, outputs):
    """Trains a linear layer. `loss_of` returns the loss of one example from its logits and its index."""
    torch.manual_seed(SEED)
    layer = torch.nn.Linear(states[0].shape[-1], outputs)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=RATE)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(states)).split(BATCH):
            optimizer.zero_grad()
            logits = layer(torch.cat([states[i] for i in batch])).split([len(states[i]) for i in batch])
            torch.stack([loss_of(each, i) for each, i in zip(logits, batch)]).mean().backward()
            optimizer.step()
    return layer


def save(auto, head, encoder_folder, folder, layer, **config):
    """Writes the encoder with a head as a model folder."""
    model = auto.from_pretrained(encoder_folder, **config)
    getattr(model, head).load_state_dict(layer.state_dict())
    model.save_pretrained(folder)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(Path(encoder_folder) / file, folder / file)


def main(encoder_folder, wnut, squad, out):
    tokenizer = AutoTokenizer.from_pretrained(encoder_folder)
    encoder = AutoModel.from_pretrained(encoder_folder).eval()
    cross_entropy = torch.nn.functional.cross_entropy

    examples, names = tagging(tokenizer, wnut)
    train, held_out = examples[::2], examples[1::2]
    layer = fit(hidden_states(encoder, train),
                lambda logits, i: cross_entropy(logits, torch.tensor(train[i]["labels"]), ignore_index=IGNORED), len(names))
    save(AutoModelForTokenClassification, "classifier", encoder_folder, out / "tag", layer,
         id2label=dict(enumerate(names)), label2id={name: i for i, name in enumerate(names)})
    (out / "tag" / "held-out.json").write_text(json.dumps(held_out))

    articles = answering(tokenizer, squad)
    train, held_out = ([each for article in articles[half::2] for each in article][:MAX_QUESTIONS] for half in (0, 1))
    both = lambda logits, i: (cross_entropy(logits[None, :, 0], torch.tensor([train[i]["start"]]))
                              + cross_entropy(logits[None, :, 1], torch.tensor([train[i]["end"]])))
    layer = fit(hidden_states(encoder, train), both, 2)
    save(AutoModelForQuestionAnswering, "qa_outputs", encoder_folder, out / "answer", layer)
    (out / "answer" / "held-out.json").write_text(json.dumps(held_out))


if __name__ == "__main__":
    *inputs, folder = sys.argv[1:]
    main(*inputs, Path(folder))
