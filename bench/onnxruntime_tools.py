"""Functions for the scripts that run onnxruntime's tools."""

import json
import resource

from onnxruntime import __version__


def fuse(source, heads=0, width=0):
    """Without the number of heads and the width of the hidden states, the optimizer looks for them in the graph."""
    # Imported here, because quantization alone does not need it, and the import takes time and memory.
    from onnxruntime.transformers.optimizer import optimize_model

    return optimize_model(source, model_type="bert", opt_level=0, num_heads=heads, hidden_size=width)


def report(**figures):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"version": __version__, **figures, "peakRssMB": peak}))
