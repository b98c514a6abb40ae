"""Writes colbert.json: the token vectors that PyLate computes with tiny models, and their MaxSim.

test/fixtures/golden-folder.ts writes the same folders. Needs torch, transformers and pylate.
"""

import pylate
import torch
from folders import base, rounded, stored, write
from pylate.models import ColBERT, Dense
from tiny_tokenizers import word_piece

LENGTHS = dict(query_length=16, document_length=24, embedding_size=16, device="cpu")
QUERIES = ["where does anna travel?", "is this the tower of tokyo, or an open cafe in new york? ask before the visit"]
DOCUMENTS = ["anna works for acme corp, in new york.", "the. cafe! " * 12, "paris"]
CASES = {
    "usual": (dict(), []),
    "attended": (dict(attend_to_expansion_tokens=True, query_prefix="", document_prefix="", skiplist_words=["anna", "xq"]), []),
    "not expanded": (dict(do_query_expansion=False), []),
    "two projections": (dict(), [(32, 24, True, torch.nn.Tanh(), False), (24, 16, False, torch.nn.Identity(), False)]),
    "residuals": (dict(), [(32, 32, True, torch.nn.GELU(), True), (32, 16, False, torch.nn.ReLU(), True)]),
}


def case(options, layers):
    model = ColBERT(base(word_piece), **LENGTHS, **options)
    if layers:
        del model._modules["1"]
        for inputs, outputs, bias, activation, residual in layers:
            model.append(Dense(inputs, outputs, bias=bias, activation_function=activation, use_residual=residual))
    dense = {f"{i}_Dense/": module for i, module in enumerate(list(model)[1:], 1)}
    folder, files, tensors = stored(model, {"": model[0].auto_model} | dense)
    model = ColBERT(str(folder), device="cpu")
    queries, documents = model.encode(QUERIES, is_query=True), model.encode(DOCUMENTS, is_query=False)
    scores = [[float((query @ document.T).max(1).sum()) for document in documents] for query in queries]
    return dict(files=files, tensors=tensors, queries=[rounded(q) for q in queries],
                documents=[rounded(d) for d in documents], scores=[rounded(row) for row in scores],
                texts=dict(queries=QUERIES, documents=DOCUMENTS))


if __name__ == "__main__":
    write("colbert.json", f"pylate {pylate.__version__}", {name: case(*parts) for name, parts in CASES.items()})
