"""The package openai: versions 1 and newer."""

import json

from common import LONG, TEXTS, asked, compare, embedded, key, model, of, refused, url
from openai import OpenAI

client = OpenAI(base_url=f"{url}/v1", api_key=key)
name = of("openai")


def vectors(texts, **options):
    return [each.embedding for each in client.embeddings.create(model=model, input=texts, **options).data]


compare(f"{name}: models.list", model in [each.id for each in client.models.list().data], True)
compare(f"{name}: models.retrieve", client.models.retrieve(model).id, model)
compare(f"{name}: models.retrieve, an organization and capitals", client.models.retrieve(f"org/{model.upper()}").id, model)
refused(f"{name}: models.retrieve, unknown", lambda: client.models.retrieve("text-embedding-3-small"), "does not serve")

# Without encoding_format, the client asks for base64.
compare(f"{name}: default", vectors(TEXTS), embedded(TEXTS))
compare(f"{name}: one text", vectors(TEXTS[0]), embedded(TEXTS[:1]))
compare(f"{name}: float", vectors(TEXTS, encoding_format="float"), embedded(TEXTS))
raw = client.embeddings.with_raw_response.create(model=model, input=TEXTS, encoding_format="base64")
compare(f"{name}: base64", [each["embedding"] for each in json.loads(raw.text)["data"]],
        embedded(TEXTS, encoding_format="base64"))
compare(f"{name}: dimensions", vectors(TEXTS, dimensions=8), embedded(TEXTS, dimensions=8))
compare(f"{name}: user", vectors(TEXTS, user="anna"), embedded(TEXTS))
ids = [[each["id"] for each in tokens] for tokens in asked("/tokenize", {"inputs": TEXTS})]
compare(f"{name}: token ids", vectors(ids), embedded(TEXTS))
many = [f"The mill number {i} stands at the brook." for i in range(600)]
compare(f"{name}: 600 texts", vectors(many), embedded(many))

refused(f"{name}: a long text beside a short one", lambda: vectors([TEXTS[0], LONG]), "Input 1", "set `truncate` to true")
cut = client.embeddings.create(model=model, input=[TEXTS[0], LONG], extra_body={"truncate": True})
compare(f"{name}: its hint, in extra_body", [each.embedding for each in cut.data], embedded([TEXTS[0], LONG], truncate=True))
compare(f"{name}: usage counts what was read", cut.usage.prompt_tokens,
        asked("/v1/embed", {"inputs": [TEXTS[0], LONG], "truncate": True})["usage"]["tokens"])
compare(f"{name}: extra_body, left", vectors([LONG], extra_body={"truncate": "left"}), embedded([LONG], truncate="left"))
compare(f"{name}: extra_body of vLLM", vectors([LONG], extra_body={"truncate_prompt_tokens": -1}), embedded([LONG], truncate=True))
compare(f"{name}: extra_body of NVIDIA", vectors([LONG], extra_body={"truncate": "END", "input_type": "passage"}),
        embedded([LONG], truncate="right", prompt_name="document"))
compare(f"{name}: extra_body, pool_chunks", vectors([LONG], extra_body={"pool_chunks": True}), embedded([LONG], pool_chunks=True))
refused(f"{name}: ids of another tokenizer", lambda: vectors([[9906, 1917]]), "tokenizer")
