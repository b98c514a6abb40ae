"""Compares the answers of a deployment with those of the libraries of the models' authors.

    python authors.py write <folder> <encoder>...    writes model folders: encoders as they are, and others with a new head
    python authors.py compare <folder> <tier> <url> <key> <model>...

Heads are random, and the layers below them are those of the first encoder. `tier` chooses the tolerances: region is float32, edge int8.
Needs torch, sentence-transformers, and transformers 5.2, the last version with the pipeline for question answering.
"""

import json
import shutil
import sys
import urllib.error
import urllib.request
from pathlib import Path

import torch
import transformers
from sentence_transformers import CrossEncoder, SentenceTransformer, util
from transformers import (AutoTokenizer, BertConfig, BertForMaskedLM, BertForQuestionAnswering, BertForSequenceClassification,
                          BertForTokenClassification, pipeline)

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()
PROMPTS = {"query": "Represent this sentence for searching: ", "document": "passage: "}
HEADS = {
    "pairs": (BertForSequenceClassification, ["LABEL_0"]),
    "topics": (BertForSequenceClassification, ["water", "money", "travel"]),
    "inference": (BertForSequenceClassification, ["contradiction", "neutral", "entailment"]),
    "people": (BertForTokenClassification, ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]),
    "facts": (BertForQuestionAnswering, ["start", "end"]),
    "words": (BertForMaskedLM, None),
}
# Logits of random heads are small. With larger ones, answers differ more.
HEAD_SCALE = 20


def write(folder, encoders):
    for encoder in encoders:
        name = encoder.name.lower()
        shutil.copytree(encoder, folder / name, ignore=shutil.ignore_patterns("*.onnx", "golden.json"))
        shutil.copytree(folder / name, folder / f"{name}-raw")
        modules = json.loads((encoder / "modules.json").read_text())
        (folder / f"{name}-raw/modules.json").write_text(json.dumps([each for each in modules if "Normalize" not in each["type"]]))
        (folder / name / "config_sentence_transformers.json").write_text(json.dumps({"prompts": PROMPTS, "default_prompt_name": None}))
    base = encoders[0]
    for name, (kind, labels) in HEADS.items():
        torch.manual_seed(1)
        names = dict(id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)}) if labels else {}
        model = kind.from_pretrained(base, config=BertConfig.from_pretrained(base, **names), dtype=torch.float32).eval()
        for part in ("classifier", "qa_outputs"):
            if hasattr(model, part):
                getattr(model, part).weight.data *= HEAD_SCALE
        model.save_pretrained(folder / name)
        AutoTokenizer.from_pretrained(base).save_pretrained(folder / name)


SUBJECTS = ["Anna Maria", "the old mill", "a bank in New York", "Jürgen O'Neill", "the quantum market", "our cat", "a café in São Paulo"]
VERBS = ["sold", "repaired", "looked for", "flooded", "insured", "followed", "painted"]
OBJECTS = ["three boats at the brook.", "shares of Acme Corp.", "the road to Paris.", "an unaffordable xylophone.", "every second letter."]
LONG = " ".join(f"In {1900 + i} {SUBJECTS[i % 7]} {VERBS[i * 3 % 7]} {OBJECTS[i * 2 % 5]}" for i in range(60))
TEXTS = ["The mill stands at the brook.", "A mill is near a stream.", "Stocks fell on Monday in New York.", "Zoë's café doesn't open before 9:30"]
QUESTION = "Where does Anna Maria work?"
SENTENCE = "Anna Maria works for Acme Corp. in New York, not in São Paulo."
MASKED = "Anna works in [MASK] York for a [MASK]."

# Float32: another order of sums; 8e-8 and 3e-6 were measured. Int8: docs/accuracy.md has what a whole test set loses, and logits of
# the heads are as large as HEAD_SCALE makes them.
TOLERANCES = dict(region=dict(vector=1e-6, score=1e-5), edge=dict(cosine=0.98, score=0.15))


class Comparison:
    def __init__(self, tier, url, key):
        self.tier, self.url, self.key, self.failed = tier, url, key, 0

    def ask(self, path, **body):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {
            "authorization": f"Bearer {self.key}", "content-type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=300) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{path} {str(body)[:200]}: {error.read().decode()}")

    def row(self, name, ours, authors, difference, is_good):
        self.failed += not is_good
        print(f"{'' if is_good else 'WRONG '}{self.tier} | {name} | {ours} | {authors} | {difference}", file=sys.stderr)

    def vectors(self, name, ours, authors):
        ours, authors = torch.tensor(ours), torch.as_tensor(authors)
        cosine = util.pairwise_cos_sim(ours, authors).min().item()
        # Vectors of models that do not normalize are longer.
        largest = ((ours - authors).abs().max() / authors.norm(dim=-1).max()).item()
        limits = TOLERANCES[self.tier]
        is_good = largest <= limits["vector"] if "vector" in limits else cosine >= limits["cosine"]
        length = (ours.norm(dim=-1) / authors.norm(dim=-1) - 1).abs().max().item()
        self.row(name, f"{ours[0][0]:.6f}", f"{authors[0][0]:.6f}", f"{largest:.1e}, cosine {cosine:.6f}", is_good and length < 0.1)

    def results(self, name, ours, authors, score="score"):
        """Compares lists of dictionaries: scores by the tolerance, other fields exactly, unless the precision is another."""
        ours, authors = ([each if isinstance(each, dict) else {score: each} for each in several] for several in (ours, authors))
        if self.tier == "edge" and ours and len(ours[0]) > 1:
            # Results with almost the same score change places.
            by_name = lambda each: str([value for field, value in each.items() if field != score])
            ours, authors = sorted(ours, key=by_name), sorted(authors, key=by_name)
        same = len(ours) == len(authors) and all(
            str(value) == str(mine.get(field)) for mine, theirs in zip(ours, authors) for field, value in theirs.items() if field != score)
        largest = max((abs(float(mine[score]) - float(theirs[score])) for mine, theirs in zip(ours, authors)), default=0)
        # Logits are larger than 1.
        scale = max([1, *(abs(float(each[score])) for each in authors)])
        self.row(name, str(ours[:1])[:120], str(authors[:1])[:120], f"{largest:.1e}", same and largest <= TOLERANCES[self.tier]["score"] * scale)


def of_encoder(c, folder, name):
    model = SentenceTransformer(str(folder), device="cpu").float()
    tokenizer = model.tokenizer
    model_of = dict(model=name)
    # text-embeddings-inference normalizes the vectors of all models.
    as_model = dict(normalize=not name.endswith("-raw"))

    def encode(texts, side="right", **options):
        tokenizer.truncation_side = side
        return model.encode(texts, convert_to_tensor=True, show_progress_bar=False, **options)

    def routes(field, texts, authors, **bodies):
        """Asks several dialects. Keys of `bodies` are their names."""
        asked = dict(
            own=lambda body: c.ask("/v1/embed", inputs=texts, **model_of, **body)["embeddings"],
            openai=lambda body: [each["embedding"] for each in c.ask("/v1/embeddings", input=texts, **model_of, **body)["data"]],
            tei=lambda body: c.ask("/embed", inputs=texts, **model_of, **({} if "dimensions" in body else as_model) | body),
            hf=lambda body: c.ask("/", inputs=texts, **model_of, **body),
            cohere=lambda body: c.ask("/v2/embed", texts=texts, embedding_types=["float"], **model_of, **body)["embeddings"]["float"],
        )
        for dialect, body in bodies.items():
            c.vectors(f"{name} {field}: {dialect} {json.dumps(body)}", asked[dialect](body), authors)

    routes("texts", TEXTS, encode(TEXTS), own={}, openai={}, tei={}, hf={})
    long = [LONG, f"{TEXTS[0]} {LONG}"]
    for side in ("left", "right"):
        cut = dict(truncate=True, truncation_direction=side)
        routes(f"{side} cut", long, encode(long, side), own=dict(truncate=side), openai=dict(truncate=side),
               tei=dict(truncation_direction=side.capitalize()), hf=cut, cohere=dict(truncate=dict(left="START", right="END")[side]))
        routes(f"{side} cut", long, encode(long, side), hf=dict(parameters=cut), tei=cut,
               openai=dict(truncate_prompt_tokens=-1, truncation_side=side))
    routes("dimensions", TEXTS, encode(TEXTS, truncate_dim=64, normalize_embeddings=True),
           own=dict(dimensions=64), openai=dict(dimensions=64), tei=dict(dimensions=64), hf=dict(dimensions=64), cohere=dict(output_dimension=64))
    if name.endswith("-raw"):
        for flag in (False, True):
            authors = encode(TEXTS, normalize_embeddings=flag)
            routes("normalize", TEXTS, authors, own=dict(normalize=flag), openai=dict(normalized=flag), tei=dict(normalize=flag),
                   hf=dict(normalize=flag))
            routes("normalize", TEXTS, authors, hf=dict(parameters=dict(normalize=flag)))
        routes("normalize, left cut", long, encode(long, "left", normalize_embeddings=False),
               tei=dict(normalize=False, truncation_direction="Left"), hf=dict(normalize=False, truncation_direction="left"))
        return
    for role, input_type in dict(query="search_query", document="search_document").items():
        authors = encode(TEXTS, prompt_name=role)
        named = dict(prompt_name=role)
        routes("prompt", TEXTS, authors, own=named, openai=named, tei=named, hf=named, cohere=dict(input_type=input_type))
        routes("prompt", TEXTS, authors, openai=dict(input_type=role))
        routes("prompt", TEXTS, authors, openai=dict(task=dict(query="retrieval.query", document="retrieval.passage")[role]))
        routes("prompt, left cut", long, encode(long, "left", prompt_name=role), own=dict(truncate="left", **named),
               tei=dict(truncation_direction="Left", **named))
    tokenizer.truncation_side = "right"
    scores = model.similarity(model.encode_query([QUESTION]), model.encode_document(TEXTS))[0].tolist()
    best = sorted((dict(index=i, relevance_score=score) for i, score in enumerate(scores)), key=lambda each: -each["relevance_score"])
    for path in ("/v1/rerank", "/v2/rerank"):
        c.results(f"{name} {path}", c.ask(path, query=QUESTION, documents=TEXTS, return_documents=False, **model_of)["results"], best, "relevance_score")
    first = encode(TEXTS)
    c.results(f"{name} /similarity", c.ask("/similarity", inputs=dict(source_sentence=TEXTS[0], sentences=TEXTS), **model_of),
              util.cos_sim(first[0], first)[0].tolist())


def of_pairs(c, folder, name):
    scorer = CrossEncoder(str(folder), device="cpu", activation_fn=torch.nn.Sigmoid())
    tokenizer = scorer.tokenizer
    documents = [*TEXTS, LONG, LONG[::-1]]

    def first_tokens(text, count):
        """Returns the part of a text that its first tokens are."""
        offsets = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
        return text[:offsets[min(count, len(offsets)) - 1][1]]

    def ranked(documents, **options):
        scores = scorer.predict([(QUESTION, document) for document in documents], **options).tolist()
        return sorted((dict(index=i, relevance_score=score) for i, score in enumerate(scores)), key=lambda each: -each["relevance_score"])

    asked = dict(query=QUESTION, documents=documents, model=name, return_documents=False)
    for path in ("/v1/rerank", "/v2/rerank"):
        cut = {} if path == "/v2/rerank" else dict(truncate=True)
        c.results(f"pairs {path}", c.ask(path, **asked, **cut)["results"], ranked(documents), "relevance_score")
        for most in (1, 5, 16, 200):
            c.results(f"pairs {path} max_tokens_per_doc {most}", c.ask(path, **asked, **cut, max_tokens_per_doc=most)["results"],
                      ranked([first_tokens(document, most) for document in documents]), "relevance_score")
    tei = dict(query=QUESTION, texts=documents, model=name)
    renamed = lambda results: [dict(index=each["index"], score=each["relevance_score"]) for each in results]
    c.results("pairs /rerank", c.ask("/rerank", **tei), renamed(ranked(documents)))
    logits = renamed(ranked(documents, activation_fn=torch.nn.Identity()))
    c.results("pairs /rerank raw_scores", c.ask("/rerank", **tei, raw_scores=True), logits)
    tokenizer.truncation_side = "left"
    c.results("pairs /rerank Left", c.ask("/rerank", **tei, truncation_direction="Left"), renamed(ranked(documents)))
    c.results("pairs /v1/rerank left", renamed(c.ask("/v1/rerank", **asked, truncate="left")["results"]), renamed(ranked(documents)))


def of_topics(c, folder, name):
    classify = pipeline("text-classification", model=str(folder), device="cpu", dtype=torch.float32)
    for text, cut in ((TEXTS[0], "right"), (LONG, "right"), (LONG, "left")):
        classify.tokenizer.truncation_side = cut
        for options in ({}, dict(top_k=2), dict(function_to_apply="sigmoid"), dict(function_to_apply="none"), dict(function_to_apply="softmax")):
            authors = classify(text, truncation=True, **dict(top_k=None) | options)
            sent = dict(parameters=dict(truncation_direction=cut, **options), model=name)
            ours = c.ask("/", inputs=text, **sent)
            c.results(f"{name} / {len(text)} characters, {json.dumps(sent['parameters'])}", ours if isinstance(ours[0], dict) else ours[0], authors)
        for raw in (False, True):
            authors = classify(text, truncation=True, top_k=None, **(dict(function_to_apply="none") if raw else {}))
            c.results(f"{name} /predict {len(text)} characters, {cut}, raw_scores {raw}",
                      c.ask("/predict", inputs=text, truncation_direction=cut.capitalize(), raw_scores=raw, model=name), authors)


def of_inference(c, folder, name):
    choose = pipeline("zero-shot-classification", model=str(folder), device="cpu", dtype=torch.float32)
    labels = ["water", "money", "travel"]
    for text in (TEXTS[0], LONG):
        for options in ({}, dict(multi_label=True), dict(hypothesis_template="The text is about {}.")):
            found = choose(text, labels, **options)
            c.results(f"inference / {len(text)} characters, {json.dumps(options)}",
                      c.ask("/", inputs=text, parameters=dict(candidate_labels=labels, **options), model=name),
                      [dict(label=label, score=score) for label, score in zip(found["labels"], found["scores"])])


def of_people(c, folder, name):
    tag = pipeline("token-classification", model=str(folder), device="cpu", dtype=torch.float32)
    for text in (SENTENCE, TEXTS[3]):
        for strategy in ("none", "simple", "first", "average", "max"):
            for ignored in (["O"], [], ["O", "LOC", "B-LOC"]):
                options = dict(aggregation_strategy=strategy, ignore_labels=ignored)
                # Their `word` is decoded where groups are aggregated; ours is a part of the text.
                authors = [{field: value for field, value in each.items() if field not in ("index", "word")} for each in tag(text, **options)]
                c.results(f"people {text[:8]} {json.dumps(options)}", c.ask("/", inputs=text, parameters=options, model=name), authors)


def of_facts(c, folder, name):
    answer = pipeline("question-answering", model=str(folder), device="cpu", dtype=torch.float32)
    for context in (SENTENCE, LONG):
        for options in ({}, dict(top_k=3), dict(top_k=3, max_answer_len=3), dict(top_k=3, align_to_words=False),
                        dict(top_k=3, max_seq_len=48, doc_stride=16), dict(top_k=3, max_seq_len=64), dict(top_k=3, doc_stride=64),
                        dict(top_k=3, max_seq_len=40, doc_stride=8, align_to_words=False), dict(top_k=3, handle_impossible_answer=True)):
            found = answer(question=QUESTION, context=context, **options)
            ours = c.ask("/", inputs=dict(question=QUESTION, context=context), parameters=options, model=name)
            listed = lambda results: results if isinstance(results, list) else [results]
            c.results(f"facts {len(context)} characters, {json.dumps(options)}", listed(ours), listed(found))


def of_words(c, folder, name):
    fill = pipeline("fill-mask", model=str(folder), device="cpu", dtype=torch.float32)
    for options in ({}, dict(top_k=3), dict(targets=["new", "bank", "paris"])):
        for theirs, ours in zip(fill(MASKED, **options), c.ask("/", inputs=MASKED, parameters=options, model=name)):
            c.results(f"words {json.dumps(options)}", ours, theirs)


OTHERS = dict(pairs=of_pairs, topics=of_topics, inference=of_inference, people=of_people, facts=of_facts, words=of_words)

if __name__ == "__main__":
    command, folder, *rest = sys.argv[1:]
    if command == "write":
        write(Path(folder), [Path(encoder) for encoder in rest])
    else:
        tier, url, key, *names = rest
        comparison = Comparison(tier, url, key)
        for name in names:
            OTHERS.get(name, of_encoder)(comparison, Path(folder) / name, name)
        sys.exit(f"{comparison.failed} comparisons are wrong." if comparison.failed else 0)
