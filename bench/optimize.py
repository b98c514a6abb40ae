"""onnxruntime's own optimizer on one file, in a process of its own: python optimize.py in.onnx out.onnx"""

import json
import resource
import sys

from onnxruntime import __version__
from onnxruntime.transformers.optimizer import optimize_model

source, out = sys.argv[1:]
model = optimize_model(source, model_type="bert", opt_level=0)
model.save_model_to_file(out)
kept = {name: count for name, count in model.get_fused_operator_statistics().items() if count > 0}
print(
    json.dumps(
        {
            "version": __version__,
            "nodes": len(model.model.graph.node),
            "fused": kept,
            "peakRssMB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }
    )
)
