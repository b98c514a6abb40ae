import { describe, expect, it } from "vitest";
import { describeModel } from "#sdk/compile/model/describe-model.ts";
import { readTextModel } from "#sdk/compile/model/text-model.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { oneModel } from "#sdk/runtime/engine/engine.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { defaultModel, prepared, preparedDefault } from "../fixtures/prepared.ts";
import { describeShared } from "../fixtures/shared.ts";

/** Texts of the model's maximum length, in which most tokens get little attention. */
const REPEATED = ["word ", "the ", "hello world ", "42 ", "😀 ", "The mill stands where the brook leaves the wood. "];

/** Returns the cosines of the edge's vectors with those of the float32 model in onnxruntime. */
async function cosines(checkpoint: string, folder: string): Promise<number[]> {
  const model = await readTextModel(await describeModel(checkpoint));
  const artifact = await openFolder(folder);
  const file = artifact.manifest.targets.edge?.model as string;
  const texts = REPEATED.map((text) => text.repeat(model.maxTokens));
  const compute = async (engine: "ort-node" | "wasm", bytes: Uint8Array<ArrayBuffer>) => {
    const session = await (await engineOnThisMachine(engine)).load(oneModel(bytes));
    try {
      return await model.compute(session, texts);
    } finally {
      await session.release();
    }
  };
  const expected = await compute("ort-node", encodeOnnx(model.graph));
  const found = await compute("wasm", await artifact.read(file));
  return expected.map((vector, i) => cosine(vector, found[i] as Float32Array));
}

describe("long texts that repeat a word, in our engine", () => {
  it("have the vectors of the default model in float32", async () => {
    expect(Math.min(...(await cosines(defaultModel, await preparedDefault())))).toBeGreaterThan(0.999);
  });
});

describeShared(
  "models/all-MiniLM-L6-v2",
  "long texts that repeat a word, in our engine, with all-MiniLM-L6-v2",
  (model) => {
    it("have the vectors of the model in float32", async () => {
      const folder = await prepared({ model, name: "golden", timingRounds: 1 });
      expect(Math.min(...(await cosines(model, folder)))).toBeGreaterThan(0.995);
    });
  },
);
