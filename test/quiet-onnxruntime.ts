import { onnxruntimeNode } from "#sdk/runtime/engine/ort-node/onnxruntime-node.ts";

// A process gives onnxruntime its log level with its first session. Tests that import onnxruntime-node themselves do not set it.
await onnxruntimeNode();
