"""The package litellm: its embedding() and rerank(), by the providers that take the URL of a server."""

import litellm
from common import LONG, TEXTS, compare, embedded, fields, key, model, of, ranked, refused, url

litellm.suppress_debug_info = True
name = of("litellm")
# Base URL of each provider, and what it needs besides.
EMBEDDERS = {
    "openai": dict(api_base=f"{url}/v1"),
    "litellm_proxy": dict(api_base=url),
    "hosted_vllm": dict(api_base=f"{url}/v1"),
    "openai_like": dict(api_base=f"{url}/v1"),
    "nvidia_nim": dict(api_base=f"{url}/v1", input_type="passage", truncate="END"),
    "infinity": dict(api_base=url),
    "jina_ai": dict(api_base=f"{url}/v1"),
    # Without the task, litellm asks Hugging Face for it.
    "huggingface": dict(api_base=url, input_type="feature-extraction"),
    "cohere": dict(api_base=f"{url}/v2/embed", input_type="search_document"),
}
# Base URLs of each provider.
RERANKERS = {
    "cohere": [url, f"{url}/v2/rerank"],
    "hosted_vllm": [url, f"{url}/v1"],
    "infinity": [url, f"{url}/v1"],
    "huggingface": [url],
    "jina_ai": [url, f"{url}/v1"],
    "litellm_proxy": [url],
}


def vectors(provider, texts, **options):
    found = litellm.embedding(f"{provider}/{model}", input=texts, api_key=key, **options)
    return [each["embedding"] for each in found.data]


def order(provider, api_base, scorer=model, documents=TEXTS, **options):
    found = litellm.rerank(model=f"{provider}/{scorer}", query=TEXTS[0], documents=documents, api_base=api_base,
                           api_key=key, **options)
    return found.results


for provider, options in EMBEDDERS.items():
    compare(f"{name}: {provider} embedding", vectors(provider, TEXTS, **options), embedded(TEXTS))
    compare(f"{name}: {provider} embedding, one text", vectors(provider, [TEXTS[0]], **options), embedded(TEXTS[:1]))
v1 = EMBEDDERS["openai"]
# litellm takes `dimensions` only for names of OpenAI's models.
compare(f"{name}: openai embedding, dimensions", vectors("openai", TEXTS, extra_body={"dimensions": 8}, **v1), embedded(TEXTS, dimensions=8))
refused(f"{name}: openai embedding, long text", lambda: vectors("openai", [LONG], **v1), "set `truncate` to true")
for hint in (dict(truncate=True), dict(extra_body={"truncate": True})):
    compare(f"{name}: openai embedding, long text with {hint}", vectors("openai", [LONG], **v1, **hint), embedded([LONG], truncate=True))
refused(f"{name}: cohere embedding, URL without a route",
        lambda: vectors("cohere", TEXTS, api_base=url, input_type="search_document"), "/v2/embed")

for provider, bases in RERANKERS.items():
    for base in bases:
        at = f"{name}: {provider} rerank at {base[len(url):] or '/'}"
        # litellm wants Infinity's documents as strings, and those of vLLM, which has the same route, as objects.
        plain = dict(return_documents=False) if provider == "infinity" else {}
        for scorer in (model, "pairs"):
            # It sends no model to text-embeddings-inference.
            of_model = f"{url}/models/{scorer}" if provider == "huggingface" else base
            compare(f"{at}, {scorer}", fields(order(provider, of_model, scorer, **plain), "index", "relevance_score"),
                    ranked(TEXTS[0], TEXTS, model=scorer))
        found = order(provider, base, top_n=2, **plain)
        compare(f"{at}, top_n", fields(found, "index", "relevance_score"), ranked(TEXTS[0], TEXTS, top_n=2))
        if not plain:
            compare(f"{at}, documents", [each["document"]["text"] for each in found], [TEXTS[each["index"]] for each in found])
        compare(f"{at}, return_documents=False", ["document" in each for each in order(provider, base, return_documents=False)],
                [False] * len(TEXTS))
compare(f"{name}: cohere rerank, max_tokens_per_doc",
        fields(order("cohere", url, max_tokens_per_doc=3), "index", "relevance_score"), ranked(TEXTS[0], TEXTS, max_tokens_per_doc=3))
compare(f"{name}: cohere rerank, documents with text",
        fields(order("cohere", url, documents=[{"text": text} for text in TEXTS]), "index", "relevance_score"), ranked(TEXTS[0], TEXTS))
refused(f"{name}: cohere rerank, rank_fields", lambda: order("cohere", url, rank_fields=["text"]), "rank_fields")
