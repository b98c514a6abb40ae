"""Quantizes an ONNX file to int8 with NNCF, for OpenVINO:

python openvino_quantize.py <model.onnx> <out.xml> <weights|static> <token ids of calibration texts.json>

`weights` quantizes only the weights. `static` quantizes activations too; their ranges come from the calibration texts.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

import nncf
import numpy as np
import openvino as ov

from openvino_inputs import inputs_of

source, out, mode, calibration = sys.argv[1:]
model = ov.convert_model(source)
if mode == "weights":
    quantized = nncf.compress_weights(model, mode=nncf.CompressWeightsMode.INT8_ASYM)
else:
    texts = [inputs_of(np.array(ids)) for ids in json.loads(Path(calibration).read_text())]
    quantized = nncf.quantize(model, nncf.Dataset(texts), model_type=nncf.ModelType.TRANSFORMER)
ov.save_model(quantized, out, compress_to_fp16=False)
print(json.dumps({"versions": {name: version(name) for name in ["openvino", "nncf"]}}))
