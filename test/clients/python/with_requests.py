"""Requests without a package: the examples of text-embeddings-inference's README and API page, and what Dify's plugin of it sends.

README: https://github.com/huggingface/text-embeddings-inference
Dify: https://github.com/langgenius/dify, huggingface_tei in api/core/model_runtime/model_providers (moved to dify-official-plugins).
"""

from common import LONG, TEXTS, asked, compare, embedded, fields, model, own, ranked, refused, url


def sent(path, root=url, **body):
    return asked(path, body, root)


encoder, pairs, topics = (f"{url}/models/{name}" for name in (model, "pairs", "topics"))

# The examples of the README.
question = "What is Deep Learning?"
compare("README: /embed", sent("/embed", inputs=question), embedded([question]))
compare("README: /embed, several texts", sent("/embed", inputs=["Today is a nice day", "I like you"]),
        embedded(["Today is a nice day", "I like you"]))
documents = ["Deep Learning is not...", "Deep learning is..."]
for root, scorer in ((url, model), (pairs, "pairs")):
    for options in ({}, dict(raw_scores=False)):
        found = sent("/rerank", root, query=question, texts=documents, **options)
        compare(f"README: /rerank {options}, {scorer}", fields(found, "index", "score"), ranked(question, documents, model=scorer))
label = lambda found: fields(found, "label", "score")
liked = own("/v1/classify", inputs=["I like you.", "I hate pineapples"], model="topics")["results"]
compare("README: /predict", label(sent("/predict", topics, inputs="I like you.")), label(liked[0]))
compare("README: /predict, several texts",
        [label(each) for each in sent("/predict", topics, inputs=[["I like you."], ["I hate pineapples"]])], [label(each) for each in liked])
compare("README: /predict, raw_scores", label(sent("/predict", topics, inputs="I like you.", raw_scores=True)),
        label(own("/v1/classify", inputs="I like you.", model="topics", function_to_apply="none")["results"][0]))
refused("README: /embed_sparse of a sentence encoder", lambda: sent("/embed_sparse", encoder, inputs="I like you."), "task sparse", "/embed")
compare("README: /v1/embeddings", [each["embedding"] for each in sent("/v1/embeddings", input=question, model=model)["data"]],
        embedded([question]))

# The other routes and fields of its API.
compare("/embed, fields", sent("/embed", inputs=TEXTS, normalize=True, truncate=False, dimensions=8, prompt_name="query",
                               truncation_direction="Right"), embedded(TEXTS, dimensions=8, prompt_name="query"))
compare("/embed, null fields", sent("/embed", inputs=TEXTS, normalize=None, truncate=None, dimensions=None, prompt_name=None,
                                    truncation_direction=None), embedded(TEXTS))
compare("/embed, long text", sent("/embed", inputs=LONG), embedded([LONG], truncate=True))
compare("/embed, long text, Left", sent("/embed", inputs=LONG, truncate=True, truncation_direction="Left"), embedded([LONG], truncate="left"))
refused("/embed, long text, truncate false", lambda: sent("/embed", inputs=LONG, truncate=False), "`truncate` to true")
refused("/embed, normalize false", lambda: sent("/embed", inputs=TEXTS, normalize=False), "normalize")
compare("/similarity", sent("/similarity", inputs=dict(source_sentence=TEXTS[0], sentences=TEXTS)),
        own("/v1/similarity", source=TEXTS[0], texts=TEXTS)["scores"])
compare("/similarity, parameters",
        sent("/similarity", inputs=dict(source_sentence=LONG, sentences=TEXTS), parameters=dict(truncate=True, truncation_direction="Left", prompt_name=None)),
        own("/v1/similarity", source=LONG, texts=TEXTS, truncate="left")["scores"])
tokens = sent("/tokenize", inputs=TEXTS, add_special_tokens=True)
compare("/tokenize", [TEXTS[0][each["start"]:each["stop"]] for each in tokens[0][1:-1]], [each["text"] for each in tokens[0][1:-1]])
compare("/decode", sent("/decode", ids=[[each["id"] for each in tokens[0]]], skip_special_tokens=True), [TEXTS[0].lower()])
refused("/embed_all of a sentence encoder", lambda: sent("/embed_all", encoder, inputs=TEXTS), "/embed")


# Dify. It asks what a server is, counts tokens, cuts what is too long and embeds without a model.
def dify_embeds(root, texts):
    info = asked("/info", root=root)
    compare("Dify: /info of an encoder", next(iter(info["model_type"])), "embedding")
    length, batch = info["max_input_length"], info["max_client_batch_size"]
    inputs = []
    for text, found in zip(texts, sent("/tokenize", root, inputs=texts)):
        if len(found) < length:
            inputs.append(text)
            continue
        before = next(i for i, token in enumerate(found) if not token["special"])
        after = sum(token["special"] for token in found) - before
        inputs.append(text[:found[length - after - 20]["start"]])
    answers = [sent("/v1/embeddings", root, input=inputs[i:i + batch]) for i in range(0, len(inputs), batch)]
    compare("Dify: usage", sum(answer["usage"]["total_tokens"] for answer in answers), own("/v1/embed", inputs=inputs)["usage"]["tokens"])
    return inputs, [each["embedding"] for answer in answers for each in answer["data"]]


texts, vectors = dify_embeds(encoder, [*TEXTS, LONG, "ping"])
compare("Dify: /v1/embeddings without a model", vectors, embedded(texts))
refused("Dify: /v1/embeddings without a model, several models", lambda: sent("/v1/embeddings", input=TEXTS), model)
compare("Dify: /info of a cross-encoder", next(iter(asked("/info", root=pairs)["model_type"])), "reranker")
found = sent("/rerank", pairs, query=TEXTS[0], texts=TEXTS, return_text=True)
compare("Dify: /rerank", fields(found, "index", "score", "text"), [(i, score, TEXTS[i]) for i, score in ranked(TEXTS[0], TEXTS, model="pairs")])
compare("/health", asked("/health")["status"], "ok")
