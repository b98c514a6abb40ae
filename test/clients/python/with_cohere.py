"""The package cohere: its clients of the second interface, and of the first one, which is refused."""

import base64
import struct

import cohere
from common import LONG, TEXTS, compare, embedded, fields, key, model, of, own, ranked, refused, url

client = cohere.ClientV2(api_key=key, base_url=url)
name = of("cohere")


def answer(texts=TEXTS, input_type="search_document", types=("float",), **options):
    return client.embed(model=model, texts=texts, input_type=input_type, embedding_types=list(types), **options).embeddings


def unpacked(text):
    data = base64.b64decode(text)
    return list(struct.unpack(f"<{len(data) // 4}f", data))


compare(f"{name}: embed", answer().float_, embedded(TEXTS, prompt_name="document"))
compare(f"{name}: embed, query", answer(input_type="search_query").float_, embedded(TEXTS, prompt_name="query"))
compare(f"{name}: embed, classification", answer(input_type="classification").float_, embedded(TEXTS))
compare(f"{name}: embed, no types", client.embed(model=model, texts=TEXTS, input_type="search_document").embeddings.float_,
        embedded(TEXTS, prompt_name="document"))
several = answer(types=["float", "int8", "uint8", "binary", "ubinary"])
for kind in ("int8", "uint8", "binary", "ubinary"):
    compare(f"{name}: embed, {kind}", getattr(several, kind), embedded(TEXTS, output_type=kind, prompt_name="document"))
if "base64" in cohere.EmbeddingType.__args__[0].__args__:
    compare(f"{name}: embed, base64", [unpacked(each) for each in answer(types=["base64"]).base64], embedded(TEXTS, prompt_name="document"))
compare(f"{name}: embed, output_dimension", answer(output_dimension=8).float_, embedded(TEXTS, dimensions=8, prompt_name="document"))
for cut, side in (("START", "left"), ("END", "right")):
    compare(f"{name}: embed, truncate {cut}", answer([LONG], truncate=cut).float_, embedded([LONG], truncate=side, prompt_name="document"))
compare(f"{name}: embed, long text", answer([LONG]).float_, embedded([LONG], truncate="right", prompt_name="document"))
refused(f"{name}: embed, truncate NONE", lambda: answer([LONG], truncate="NONE"), '`truncate` to "END"')
[cut] = own("/v1/embeddings", model=model, input=LONG, truncate="right", truncate_prompt_tokens=16, prompt_name="document")["data"]
compare(f"{name}: embed, max_tokens", answer([LONG], max_tokens=16).float_, [cut["embedding"]])
refused(f"{name}: embed, inputs", lambda: client.embed(
    model=model, input_type="search_document", embedding_types=["float"],
    inputs=[dict(content=[dict(type="text", text=TEXTS[0])])]), "Send `texts`")
for scorer in (model, "pairs"):
    found = client.rerank(model=scorer, query=TEXTS[0], documents=TEXTS).results
    compare(f"{name}: rerank, {scorer}", fields(found, "index", "relevance_score"), ranked(TEXTS[0], TEXTS, model=scorer))
found = client.rerank(model=model, query=TEXTS[0], documents=TEXTS, top_n=2, max_tokens_per_doc=3).results
compare(f"{name}: rerank, options", fields(found, "index", "relevance_score"), ranked(TEXTS[0], TEXTS, top_n=2, max_tokens_per_doc=3))
first = cohere.Client(api_key=key, base_url=url)
refused(f"{name}: v1 embed", lambda: first.embed(model=model, texts=TEXTS, input_type="search_document"), "/v2/embed")
found = first.rerank(model=model, query=TEXTS[0], documents=TEXTS, top_n=2).results
compare(f"{name}: v1 rerank", fields(found, "index", "relevance_score"), ranked(TEXTS[0], TEXTS, top_n=2))
