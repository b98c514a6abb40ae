"""Quantizes a file with onnxruntime's own dynamic quantization:

python quantize.py in.onnx out.onnx [--per-channel] [--reduce-range] [--optimize [--heads <n> --width <n>]] [--default-float32]
"""

import argparse
import sys

from onnx import TensorProto
from onnxruntime.quantization import QuantType, quantize_dynamic

from onnxruntime_tools import fuse, report

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("out")
parser.add_argument("--per-channel", action="store_true")
parser.add_argument("--reduce-range", action="store_true", help="quantize weights to 7 bits")
parser.add_argument("--optimize", action="store_true", help="optimize the file with onnxruntime's optimizer before quantization")
parser.add_argument("--heads", type=int, default=0, help="attention heads, for the optimizer")
parser.add_argument("--width", type=int, default=0, help="width of the hidden states, for the optimizer")
parser.add_argument("--default-float32", action="store_true", help="treat tensors of unknown type as float32")
options = parser.parse_args()

source = options.source
try:
    if options.optimize:
        source = f"{options.out}.fused.onnx"
        fuse(options.source, options.heads, options.width).save_model_to_file(source)
    quantize_dynamic(
        source,
        options.out,
        per_channel=options.per_channel,
        reduce_range=options.reduce_range,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": TensorProto.FLOAT} if options.default_float32 else None,
    )
except Exception as error:
    first, *_ = str(error).strip().splitlines() or [""]
    sys.exit(f"Error {type(error).__name__}: {first}")
report()
