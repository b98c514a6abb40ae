import { beforeAll, describe, expect, it } from "vitest";
import type { Artifact } from "#sdk/artifact/artifact.ts";
import type { Target, TargetName } from "#sdk/artifact/manifest.ts";
import { sentenceEncoder } from "#sdk/artifact/manifest.ts";
import { parity } from "#sdk/compile/accuracy/parity.ts";
import { encoderWeights } from "#sdk/compile/checkpoint/encoder-weights.ts";
import { encodeOnnx } from "#sdk/compile/onnx/to-onnx.ts";
import { engineOnThisMachine } from "#sdk/local/engines.ts";
import { type Engine, oneModel, type TokenIds } from "#sdk/runtime/engine/engine.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { sentenceVector } from "#sdk/runtime/tasks/sentence-vector.ts";
import { loadTokenizer } from "#sdk/runtime/tokenizer/load-tokenizer.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { fusedGraph } from "../fixtures/fused-graph.ts";
import { type GoldenCase, readGolden } from "../fixtures/golden.ts";
import { defaultModel, prepared, preparedDefault } from "../fixtures/prepared.ts";
import { readCheckpoint } from "../fixtures/read-checkpoint.ts";
import { describeShared } from "../fixtures/shared.ts";

/**
 * Minimum cosine of float32 vectors. It is below 1 because the vectors in golden.json are rounded to six decimals, and
 * transformers sums in another order.
 */
const MIN_FP32_COSINE = 0.999_99;
/** Minimum cosines with the vectors that transformers computes, for texts that `prepare` does not see. */
const minCosines: Record<TargetName, { mean: number; worst: number }> = {
  edge: { mean: 0.99, worst: 0.975 },
  "regional-cpu": { mean: 0.99, worst: 0.975 },
  "regional-gpu": { mean: 0.9999, worst: 0.9995 },
};

describe("the default model", () => testGolden(defaultModel, preparedDefault, 90));

describeShared("models/all-MiniLM-L6-v2", "all-MiniLM-L6-v2", (folder) =>
  testGolden(folder, () => prepared({ model: folder, name: "golden", timingRounds: 1 })),
);

/** Tests an artifact against the vectors that transformers computes from the same model folder. */
function testGolden(folder: string, artifactFolder: () => Promise<string>, count?: number): void {
  let artifact: Artifact;
  let cases: GoldenCase[];
  let reference: Float32Array[];
  let sequences: TokenIds[];

  beforeAll(async () => {
    artifact = await openFolder(await artifactFolder());
    cases = await readGolden(folder);
    reference = cases.map(({ embedding }) => Float32Array.from(embedding));
    const { encode } = await loadTokenizer(artifact.manifest, artifact.read);
    sequences = cases.map(({ text }) => encode(text, artifact.manifest.maxTokens).ids);
  });

  /** Computes the golden texts' vectors with a model file on an engine. */
  async function vectors(engine: Engine, model: Uint8Array<ArrayBuffer>): Promise<Float32Array[]> {
    const session = await engine.load(oneModel(model));
    try {
      const states = await session.run(sequences);
      const encoder = sentenceEncoder(artifact.manifest);
      return states.map((rows) => sentenceVector(rows, encoder.dimensions, encoder));
    } finally {
      await session.release();
    }
  }

  it("has the token ids of transformers for every text", () => {
    if (count !== undefined) expect(cases).toHaveLength(count);
    expect(sequences.map((ids) => [...ids])).toEqual(cases.map(({ input_ids }) => input_ids));
  });

  it("has transformers' vectors in the fused float32 graph", async () => {
    const checkpoint = await readCheckpoint(folder);
    const model = encodeOnnx(await fusedGraph(checkpoint.config, encoderWeights(checkpoint)));
    const { minCosine } = parity(reference, await vectors(ortNodeEngine({ threads: 1 }), model));
    expect(minCosine).toBeGreaterThanOrEqual(MIN_FP32_COSINE);
  });

  it.each(Object.entries(minCosines) as [TargetName, { mean: number; worst: number }][])(
    "stays close to transformers' vectors as %s",
    async (target, { mean, worst }) => {
      const { engine, model } = artifact.manifest.targets[target] as Target;
      const measured = parity(reference, await vectors(await engineOnThisMachine(engine), await artifact.read(model)));
      expect(measured.meanCosine).toBeGreaterThanOrEqual(mean);
      expect(measured.minCosine).toBeGreaterThanOrEqual(worst);
    },
  );
}
