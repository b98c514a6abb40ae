import { type Pooling, sentenceEncoder } from "#sdk/artifact/manifest.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import type { TokenIds } from "#sdk/runtime/engine/engine.ts";
import { modelFilesOf } from "#sdk/runtime/model-files.ts";
import { sentenceVector } from "#sdk/runtime/tasks/sentence-vector.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { openEncoder } from "../quantize/encoder.ts";
import { importTransformers } from "../transformers/engines.ts";

/** Computes the vector of one text on one thread. */
type EmbedIds = (ids: TokenIds) => Promise<Float32Array>;

/** Runs a target of an artifact in our own session. */
const ours =
  (name: "wasm" | "ort-node") =>
  async (artifactFolder: string): Promise<EmbedIds> => {
    const artifact = await openFolder(artifactFolder);
    const session = await (await engineOnThisMachine(name)).load(modelFilesOf(artifact, name));
    const head = sentenceEncoder(artifact.manifest);
    return async (ids) => (await session.run([ids], head))[0] as Float32Array;
  };

/** Runs an ONNX file in onnxruntime-node. `source` is the file from which it was made. */
async function onnx(file: string, source: string, pooling: string): Promise<EmbedIds> {
  const encode = await openEncoder(file, fromOnnx(await readOnnx(source)), pooling as Pooling);
  return async (ids) => (await encode([ids]))[0] as Float32Array;
}

/** Runs a model of transformers.js. */
async function transformers(installed: string, dtype: string, pooling: string): Promise<EmbedIds> {
  const { AutoModel, Tensor } = await importTransformers(installed);
  const model = await AutoModel.from_pretrained("measured", { dtype, session_options: { intraOpNumThreads: 1 } });
  return async (ids) => {
    const int64 = (value: (id: number) => number) =>
      new Tensor(
        "int64",
        BigInt64Array.from(ids, (id) => BigInt(value(id))),
        [1, ids.length],
      );
    const inputs = { input_ids: int64((id) => id), attention_mask: int64(() => 1), token_type_ids: int64(() => 0) };
    const { last_hidden_state: states } = await model(inputs);
    return sentenceVector(states.data, states.dims[2], { pooling: pooling as Pooling, normalize: false });
  };
}

export const encoders = { edge: ours("wasm"), region: ours("ort-node"), onnx, transformers };
