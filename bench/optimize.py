"""Optimizes a file with onnxruntime's own optimizer: python optimize.py in.onnx out.onnx"""

import sys

from onnxruntime_tools import fuse, report

source, out = sys.argv[1:]
model = fuse(source)
model.save_model_to_file(out)
kept = {name: count for name, count in model.get_fused_operator_statistics().items() if count > 0}
report(nodes=len(model.model.graph.node), fused=kept)
