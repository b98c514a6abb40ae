"""What the scripts around onnxruntime's tools share."""

import json
import resource

from onnxruntime import __version__


def fuse(source):
    # Here, because it takes time and memory that quantizing alone does not.
    from onnxruntime.transformers.optimizer import optimize_model

    return optimize_model(source, model_type="bert", opt_level=0)


def report(**figures):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"version": __version__, **figures, "peakRssMB": peak}))
