"""LangChain's packages for OpenAI, Hugging Face and Cohere, and its own tests of embeddings."""

import asyncio
import os
import sys
from importlib.resources import files

import pytest
from common import LONG, TEXTS, compare, embedded, key, model, of, ranked, refused, url
from langchain_cohere import CohereEmbeddings, CohereRerank
from langchain_core.documents import Document
from langchain_huggingface import HuggingFaceEndpointEmbeddings
from langchain_openai import OpenAIEmbeddings
from langchain_tests.integration_tests import EmbeddingsIntegrationTests

# OpenAI's tokenizer would be downloaded. LlamaIndex's package has the file.
os.environ["TIKTOKEN_CACHE_DIR"] = str(files("llama_index.core") / "_static/tiktoken_cache")
OPENAI = dict(base_url=f"{url}/v1", api_key=key, model=model)
TEXT_LISTS = dict(check_embedding_ctx_length=False)


class TestOpenAIEmbeddings(EmbeddingsIntegrationTests):
    embeddings_class = OpenAIEmbeddings
    embedding_model_params = OPENAI | TEXT_LISTS


class TestHuggingFaceEndpointEmbeddings(EmbeddingsIntegrationTests):
    embeddings_class = HuggingFaceEndpointEmbeddings
    embedding_model_params = dict(model=url, huggingfacehub_api_token=key)


def embeds(name, embeddings):
    compare(f"{name}: embed_documents", embeddings.embed_documents(TEXTS), embedded(TEXTS))
    compare(f"{name}: embed_query", embeddings.embed_query(TEXTS[0]), embedded(TEXTS)[0])
    compare(f"{name}: aembed_documents", asyncio.run(embeddings.aembed_documents(TEXTS)), embedded(TEXTS))


def run():
    name = f"{of('langchain-openai')}, {of('openai')}"
    embeds(name, OpenAIEmbeddings(**OPENAI, **TEXT_LISTS))
    compare(f"{name}: dimensions", OpenAIEmbeddings(**OPENAI, **TEXT_LISTS, dimensions=8).embed_documents(TEXTS),
            embedded(TEXTS, dimensions=8))
    refused(f"{name}: long text", lambda: OpenAIEmbeddings(**OPENAI, **TEXT_LISTS).embed_documents([LONG]), "set `truncate` to true")
    cutting = OpenAIEmbeddings(**OPENAI, **TEXT_LISTS, model_kwargs={"extra_body": {"truncate": True}})
    compare(f"{name}: long text with model_kwargs", cutting.embed_documents([LONG]), embedded([LONG], truncate=True))
    # LangChain's default: it sends ids of OpenAI's tokenizer.
    refused(f"{name}: token ids", lambda: OpenAIEmbeddings(**OPENAI).embed_documents(TEXTS), "check_embedding_ctx_length")

    embeds(of("langchain-huggingface"), HuggingFaceEndpointEmbeddings(model=url, huggingfacehub_api_token=key))
    cutting = HuggingFaceEndpointEmbeddings(model=url, huggingfacehub_api_token=key,
                                            model_kwargs=dict(truncate=True, truncation_direction="left", normalize=True))
    compare(f"{of('langchain-huggingface')}: model_kwargs", cutting.embed_documents([LONG]), embedded([LONG], truncate="left"))

    name = f"{of('langchain-cohere')}, {of('cohere')}"
    # LangChain calls the first interface of Cohere.
    cohere = CohereEmbeddings(base_url=url, cohere_api_key=key, model=model, max_retries=1)
    refused(f"{name}: embed", lambda: cohere.embed_documents(TEXTS), "/v2/embed")
    for scorer in (model, "pairs"):
        reranker = CohereRerank(base_url=url, cohere_api_key=key, model=scorer, top_n=2)
        found = reranker.compress_documents([Document(text) for text in TEXTS], TEXTS[0])
        compare(f"{name}: rerank, {scorer}", [(TEXTS.index(each.page_content), each.metadata["relevance_score"]) for each in found],
                ranked(TEXTS[0], TEXTS, model=scorer, top_n=2))


if __name__ == "__main__":
    run()
    sys.exit(pytest.main(["--quiet", "-o", "asyncio_mode=auto", "-p", "no:cacheprovider", "-p", "no:warnings", __file__]))
