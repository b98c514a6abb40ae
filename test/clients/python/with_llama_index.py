"""LlamaIndex's packages that take the URL of a server, with its chunks of 1,024 tokens."""

from common import LONG, TEXTS, compare, embedded, key, model, of, ranked, refused, url
from llama_index.core import Document
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.embeddings.huggingface_api import HuggingFaceInferenceAPIEmbedding
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference
from llama_index.postprocessor.cohere_rerank import CohereRerank
from llama_index.postprocessor.jinaai_rerank import JinaRerank
from llama_index.postprocessor.tei_rerank import TextEmbeddingInference

openai = dict(model_name=model, api_base=f"{url}/v1", api_key=key)
# Two chunks of LlamaIndex's default length.
CHUNKED = LONG * 5
CUT = {"extra_body": {"truncate": True}}


def ingested(embedder):
    """Returns the texts of a document's chunks, and their vectors."""
    nodes = IngestionPipeline(transformations=[SentenceSplitter(chunk_size=1024), embedder]).run(documents=[Document(text=CHUNKED)])
    assert len(nodes) > 1
    return [node.get_content(metadata_mode="embed") for node in nodes], [node.embedding for node in nodes]


EMBEDDERS = {
    "llama-index-embeddings-openai": (lambda **cut: OpenAIEmbedding(**openai, **cut), dict(additional_kwargs=CUT)),
    "llama-index-embeddings-openai-like": (lambda **cut: OpenAILikeEmbedding(**openai, **cut), dict(additional_kwargs=CUT)),
    "llama-index-embeddings-text-embeddings-inference": (
        lambda: TextEmbeddingsInference(model_name=model, base_url=url, auth_token=key), None),
    "llama-index-embeddings-huggingface-api": (
        lambda: HuggingFaceInferenceAPIEmbedding(model_name=url, token=key), None),
}
for package, (make, cut) in EMBEDDERS.items():
    name = of(package)
    # The client of huggingface-api keeps a connection of the event loop of its first call, and fails in the second one.
    compare(f"{name}: texts", make().get_text_embedding_batch(TEXTS), embedded(TEXTS))
    compare(f"{name}: query", make().get_query_embedding(TEXTS[0]), embedded(TEXTS)[0])
    if cut:
        refused(f"{name}: chunks of 1,024 tokens", lambda: ingested(make()), "set `truncate` to true")
    texts, vectors = ingested(make(**(cut or {})))
    compare(f"{name}: chunks of 1,024 tokens{', cut' if cut else ''}", vectors, embedded(texts, truncate=True))
compare(f"{of('llama-index-embeddings-openai')}: dimensions", OpenAIEmbedding(**openai, dimensions=8).get_text_embedding_batch(TEXTS),
        embedded(TEXTS, dimensions=8))

RERANKERS = {
    "llama-index-postprocessor-cohere-rerank": lambda scorer: CohereRerank(model=scorer, api_key=key, base_url=url, top_n=2),
    "llama-index-postprocessor-jinaai-rerank": lambda scorer: JinaRerank(model=scorer, api_key=key, base_url=f"{url}/v1", top_n=2),
    # This one sends its token as it is, and no model.
    "llama-index-postprocessor-tei-rerank": lambda scorer: TextEmbeddingInference(
        base_url=f"{url}/models/{scorer}", auth_token=f"Bearer {key}", top_n=2),
}
for package, make in RERANKERS.items():
    for scorer in (model, "pairs"):
        nodes = [NodeWithScore(node=TextNode(text=text), score=0.0) for text in TEXTS]
        found = make(scorer).postprocess_nodes(nodes, query_bundle=QueryBundle(TEXTS[0]))
        compare(f"{of(package)}: {scorer}", [(TEXTS.index(each.node.text), each.score) for each in found],
                ranked(TEXTS[0], TEXTS, model=scorer, top_n=2))
