"""The package huggingface_hub. Each task is called by the URL of the endpoint: else, the client would ask Hugging Face for it."""

from common import LONG, TEXTS, compare, embedded, fields, key, of, own, refused, url
from huggingface_hub import InferenceClient

SENTENCE = "Anna works in New York."
name = of("huggingface_hub")
client = InferenceClient(model=url, token=key)
classify, tag, answer, fill = (
    InferenceClient(model=f"{url}/models/{each}", token=key) for each in ("topics", "people", "facts", "words"))


def features(texts=TEXTS, **options):
    return client.feature_extraction(texts, **options).tolist()


def first(path, **body):
    return own(path, **body)["results"][0]


compare(f"{name}: feature_extraction, one text", features(TEXTS[0]), embedded(TEXTS)[0])
compare(f"{name}: feature_extraction", features(), embedded(TEXTS))
compare(f"{name}: feature_extraction, options", features(normalize=True, truncate=True, dimensions=8), embedded(TEXTS, dimensions=8))
compare(f"{name}: feature_extraction, long text", features([LONG]), embedded([LONG], truncate=True))
for direction, side in dict(left="left", right="right", Left="left", Right="right").items():
    compare(f"{name}: feature_extraction, {direction}", features([LONG], truncate=True, truncation_direction=direction),
            embedded([LONG], truncate=side))
compare(f"{name}: feature_extraction, left by default", features([LONG], truncation_direction="left"), embedded([LONG], truncate="left"))
compare(f"{name}: feature_extraction, prompt_name", features(prompt_name="query"), embedded(TEXTS, prompt_name="query"))
compare(f"{name}: feature_extraction, float", features(encoding_format="float"), embedded(TEXTS))
refused(f"{name}: feature_extraction, base64", lambda: features(encoding_format="base64"), "encoding_format")
refused(f"{name}: feature_extraction, truncate=False", lambda: features([LONG], truncate=False), "`parameters.truncate` to true")
# A model that computes only normalized vectors refuses others.
refused(f"{name}: feature_extraction, normalize=False", lambda: features(normalize=False), "normalize")

compare(f"{name}: sentence_similarity", client.sentence_similarity(TEXTS[0], other_sentences=TEXTS),
        own("/v1/similarity", source=TEXTS[0], texts=TEXTS)["scores"])
labels = ["water", "money"]
for options in ({}, dict(multi_label=True), dict(hypothesis_template="It is {}.")):
    compare(f"{name}: zero_shot_classification {options}",
            fields(client.zero_shot_classification(TEXTS[0], labels, **options), "label", "score"),
            fields(first("/v1/zero-shot", inputs=TEXTS[0], candidate_labels=labels, **options), "label", "score"))
for options in ({}, dict(top_k=2), dict(function_to_apply="sigmoid"), dict(function_to_apply="none")):
    compare(f"{name}: text_classification {options}", fields(classify.text_classification(TEXTS[0], **options), "label", "score"),
            fields(first("/v1/classify", inputs=TEXTS[0], model="topics", **options), "label", "score"))
for strategy in ("simple", "first", "average", "max"):
    compare(f"{name}: token_classification, {strategy}",
            fields(tag.token_classification(SENTENCE, aggregation_strategy=strategy, ignore_labels=[]),
                   "entity_group", "score", "word", "start", "end"),
            fields(first("/v1/tag", inputs=SENTENCE, model="people", aggregation_strategy=strategy, ignore_labels=[]),
                   "label", "score", "text", "start", "end"))
refused(f"{name}: token_classification, stride", lambda: tag.token_classification(SENTENCE, stride=4), "in parts")

asked = dict(question="Where does Anna work?", context=SENTENCE)
found = ("answer", "score", "start", "end")
compare(f"{name}: question_answering", fields([answer.question_answering(**asked)], *found),
        fields(first("/v1/answer", model="facts", **asked), *found))
for options in (dict(top_k=2), dict(top_k=2, max_answer_len=2), dict(top_k=2, handle_impossible_answer=True)):
    same = {"max_answer_tokens" if option == "max_answer_len" else option: value for option, value in options.items()}
    compare(f"{name}: question_answering {options}", fields(answer.question_answering(**asked, **options), *found),
            fields(first("/v1/answer", model="facts", **asked, **same), *found))
refused(f"{name}: question_answering, max_question_len", lambda: answer.question_answering(**asked, max_question_len=8), "Shorten")

masked = "Anna works in [MASK] York."
for options in (dict(top_k=3), dict(targets=["york", "anna"])):
    compare(f"{name}: fill_mask {options}", fields(fill.fill_mask(masked, **options), "token", "token_str", "score", "sequence"),
            fields(first("/v1/fill-mask", inputs=masked, model="words", **options)[0], "token_id", "token", "score", "sequence"))
