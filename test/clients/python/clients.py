"""Calls a deployment with each client, and compares what the client returns with the answer of our own routes:

    python clients.py <url> <key> <model>

Needs openai, langchain-openai, huggingface_hub, numpy and cohere.
"""

import json
import math
import sys
import urllib.request

import cohere
from huggingface_hub import InferenceClient
from langchain_openai import OpenAIEmbeddings
from openai import OpenAI

url, key, model = sys.argv[1:]
TEXTS = ["The mill stands at the brook.", "A mill is near a stream.", "Stocks fell on Monday."]
SENTENCE = "Anna works in New York."
TIMEOUT_SECONDS = 60
# The wire has 9 significant digits, and Python rounds when it normalizes.
TOLERANCE = 1e-6


def own(path, **body):
    """Asks one of our own routes."""
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {
        "authorization": f"Bearer {key}", "content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        return json.load(response)


def is_same(found, expected):
    if isinstance(expected, float) and isinstance(found, (int, float)):
        return math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(is_same, found, expected))
    return found == expected


def compare(name, found, expected):
    if not is_same(found, expected):
        raise SystemExit(f"{name}: {str(found)[:300]} instead of {str(expected)[:300]}")
    print(f"  {name}", file=sys.stderr)


def with_openai(vectors):
    client = OpenAI(base_url=f"{url}/v1", api_key=key)
    many = [f"The mill number {i} stands at the brook." for i in range(600)]

    def embedded(texts, **options):
        return [each.embedding for each in client.embeddings.create(model=model, input=texts, **options).data]

    compare("openai, models", model in [each.id for each in client.models.list().data], True)
    # Without encoding_format, the client asks for base64.
    compare("openai", embedded(TEXTS), vectors)
    compare("openai, one text", embedded(TEXTS[0]), vectors[:1])
    compare("openai, float", embedded(TEXTS, encoding_format="float"), vectors)
    raw = client.embeddings.with_raw_response.create(model=model, input=TEXTS, encoding_format="base64")
    asked = own("/v1/embed", inputs=TEXTS, encoding_format="base64")["embeddings"]
    compare("openai, base64", [each["embedding"] for each in json.loads(raw.text)["data"]], asked)
    shorter = own("/v1/embed", inputs=TEXTS, dimensions=8)["embeddings"]
    compare("openai, dimensions", embedded(TEXTS, dimensions=8), shorter)
    compare("openai, 600 texts", embedded(many), own("/v1/embed", inputs=many)["embeddings"])


def with_langchain(vectors):
    embeddings = OpenAIEmbeddings(base_url=f"{url}/v1", api_key=key, model=model, check_embedding_ctx_length=False)
    compare("LangChain embed_documents", embeddings.embed_documents(TEXTS), vectors)
    compare("LangChain embed_query", embeddings.embed_query(TEXTS[0]), vectors[0])


def with_hugging_face(vectors):
    """Calls each task by the URL of the endpoint. Without `model`, the client would ask Hugging Face for it."""
    client = InferenceClient(model=url, token=key)
    classify, tag, answer, fill = (
        InferenceClient(model=f"{url}/models/{name}", token=key) for name in ("topics", "people", "facts", "words"))

    compare("Hugging Face feature_extraction", client.feature_extraction(TEXTS[0]).tolist(), vectors[0])
    compare("Hugging Face feature_extraction, several texts", client.feature_extraction(TEXTS).tolist(), vectors)
    options = dict(normalize=True, truncate=True, dimensions=8)
    shorter = own("/v1/embed", inputs=TEXTS, dimensions=8)["embeddings"]
    compare("Hugging Face feature_extraction, options", client.feature_extraction(TEXTS, **options).tolist(), shorter)
    scores = own("/v1/similarity", source=TEXTS[0], texts=TEXTS)["scores"]
    compare("Hugging Face sentence_similarity", client.sentence_similarity(TEXTS[0], other_sentences=TEXTS), scores)
    labels = ["water", "money"]
    compare(
        "Hugging Face zero_shot_classification",
        [(each.label, each.score) for each in client.zero_shot_classification(TEXTS[0], labels)],
        [(each["label"], each["score"]) for each in own("/v1/zero-shot", inputs=TEXTS[0], candidate_labels=labels)["results"][0]],
    )
    compare(
        "Hugging Face text_classification",
        [(each.label, each.score) for each in classify.text_classification(TEXTS[0])],
        [(each["label"], each["score"]) for each in own("/v1/classify", inputs=TEXTS[0], model="topics")["results"][0]],
    )
    compare(
        "Hugging Face token_classification",
        [(each.entity_group, each.score, each.word, each.start, each.end)
         for each in tag.token_classification(SENTENCE, aggregation_strategy="simple", ignore_labels=[])],
        [(each["label"], each["score"], each["text"], each["start"], each["end"])
         for each in own("/v1/tag", inputs=SENTENCE, model="people", ignore_labels=[])["results"][0]],
    )
    asked = dict(question="Where does Anna work?", context=SENTENCE)
    best, second = [(each["answer"], each["score"], each["start"], each["end"])
                    for each in own("/v1/answer", model="facts", top_k=2, **asked)["results"][0]]
    fields = lambda found: (found.answer, found.score, found.start, found.end)
    compare("Hugging Face question_answering", fields(answer.question_answering(**asked)), best)
    compare("Hugging Face question_answering, top_k",
            [fields(found) for found in answer.question_answering(**asked, top_k=2)], [best, second])
    masked = "Anna works in [MASK] York."
    compare(
        "Hugging Face fill_mask",
        [(each.token, each.token_str, each.score, each.sequence) for each in fill.fill_mask(masked, top_k=3)],
        [(each["token_id"], each["token"], each["score"], each["sequence"])
         for each in own("/v1/fill-mask", inputs=masked, top_k=3, model="words")["results"][0][0]],
    )


def with_cohere(vectors):
    client = cohere.ClientV2(api_key=key, base_url=url)
    options = dict(model=model, texts=TEXTS, input_type="search_document")
    compare("Cohere embed", client.embed(**options, embedding_types=["float"]).embeddings.float_, vectors)
    whole = client.embed(**options, embedding_types=["int8"]).embeddings.int8
    compare("Cohere embed, int8", whole, own("/v1/embed", inputs=TEXTS, output_type="int8")["embeddings"])
    ranked = client.rerank(model=model, query=TEXTS[0], documents=TEXTS, top_n=2).results
    compare(
        "Cohere rerank",
        [(each.index, each.relevance_score) for each in ranked],
        [(each["index"], each["relevance_score"])
         for each in own("/v1/rerank", query=TEXTS[0], documents=TEXTS, top_n=2)["results"]],
    )


if __name__ == "__main__":
    vectors = own("/v1/embed", inputs=TEXTS)["embeddings"]
    for client in (with_openai, with_langchain, with_hugging_face, with_cohere):
        client(vectors)
