"""Parts that the scripts of all clients share. Each script is called as

    python with_<client>.py <url> <key> <model>

and compares what its client returns with the answer of our own routes.
"""

import json
import math
import sys
import urllib.error
import urllib.request
from importlib.metadata import version

url, key, model = sys.argv[1:]
TEXTS = ["The mill stands at the brook.", "A mill is near a stream.", "Stocks fell on Monday."]
LONG = "The mill stands at the brook. " * 60
TIMEOUT_SECONDS = 60
# The wire has 9 significant digits, and Python rounds when it normalizes.
TOLERANCE = 1e-6


def asked(path, body=None, root=url):
    """Returns the JSON of a route. Without a body, it is asked with GET. An error has what the server says."""
    request = urllib.request.Request(root + path, None if body is None else json.dumps(body).encode(), {
        "authorization": f"Bearer {key}", "content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise RuntimeError(error.read().decode()) from error


def own(path, **body):
    """Asks one of our own routes."""
    return asked(path, body)


def embedded(texts, **options):
    return own("/v1/embed", inputs=texts, **options)["embeddings"]


def ranked(query, documents, **options):
    """Returns the index and the score of each result."""
    return fields(own("/v1/rerank", query=query, documents=documents, **options)["results"], "index", "relevance_score")


def fields(results, *names):
    """Returns these fields of each result, which is a dictionary or an object."""
    return [tuple(each[name] if isinstance(each, dict) else getattr(each, name) for name in names) for each in results]


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


def refused(name, call, *words):
    """Expects an error with these words, which a reader can follow."""
    try:
        found = call()
    except Exception as error:
        missing = [word for word in words if word not in str(error)]
        if missing:
            raise SystemExit(f"{name}: {missing} is not in {type(error).__name__}: {str(error)[:600]}")
        return print(f"  {name}: refused", file=sys.stderr)
    raise SystemExit(f"{name}: {str(found)[:300]} instead of an error")


def of(package):
    """Returns the name of a package with its version."""
    return f"{package} {version(package)}"
