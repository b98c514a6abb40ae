import { modelPlace } from "./model-place.ts";

/** Returns the command that makes an ONNX file faster in onnxruntime and keeps all its outputs. */
export const commandToQuantize = (path: string): string =>
  `npx bert-edge quantize ${JSON.stringify(path)} ./int8.onnx --mode int8-dynamic --tokenizer ${JSON.stringify(modelPlace(path).folder)}`;
