"""Embeds token ids with OpenVINO on one thread, as child.ts does:

python openvino_child.py <model.xml> <mean|cls|last|max>
"""

import base64
import json
import sys
import time

import numpy as np
import openvino as ov

from openvino_inputs import inputs_of

POOLERS = {
    "mean": lambda states: states.mean(0),
    "cls": lambda states: states[0],
    "last": lambda states: states[-1],
    "max": lambda states: states.max(0),
}

path, pooling = sys.argv[1:]
config = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
request = ov.Core().compile_model(path, "CPU", config).create_infer_request()


def vector_of(ids):
    (states,) = request.infer(inputs_of(ids)).values()
    return POOLERS[pooling](states[0])


print(json.dumps("ready"), flush=True)
for line in sys.stdin:
    texts = json.loads(line)
    start = time.perf_counter()
    vectors = [vector_of(ids) for ids in texts]
    seconds = time.perf_counter() - start
    encoded = base64.b64encode(np.stack(vectors).astype("<f4").tobytes()).decode()
    print(json.dumps({"seconds": seconds, "vectors": encoded}), flush=True)
