import { describe, expect, it } from "vitest";
import { tryProvider } from "#sdk/cli/doctor/try-providers.ts";
import { loadModel } from "#sdk/local/load-model.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { cosine } from "#sdk/runtime/tasks/sentence-vector.ts";
import { readGolden } from "../fixtures/golden.ts";
import { defaultModel, preparedDefault } from "../fixtures/prepared.ts";

/** Lowest cosine of half precision with float32: `FP16_LIMIT` in compile/accuracy/limits.ts. */
const FP16_COSINE = 0.9995;
const TEXTS = 4;

/**
 * Why WebGPU cannot be used here. Without a GPU, Mesa's software Vulkan will do: `mesa-vulkan-drivers` of version 25, which Debian 12
 * has in its backports. onnxruntime does not accept version 22.
 */
const reason = await tryProvider("webgpu");
if (reason !== undefined) console.info(`Skipped: WebGPU (${reason})`);

describe.skipIf(reason !== undefined)(
  `the region on WebGPU${reason === undefined ? "" : ` (skipped: ${reason})`}`,
  () => {
    it("computes the vectors of the float32 model", async () => {
      const engine = ortNodeEngine({ providers: ["webgpu"], sessions: 1 });
      await using model = await loadModel(await preparedDefault(), { engine });
      expect([model.provider, model.target]).toEqual(["webgpu", "regional-gpu"]);
      // Each length has shaders of its own, which take seconds to compile.
      const golden = (await readGolden(defaultModel)).slice(0, TEXTS);
      const texts = golden.map(({ text }) => text);
      const { embeddings: vectors } = await model.embed(texts, { truncate: true });
      const cosines = golden.map(({ embedding }, i) =>
        cosine(Float32Array.from(embedding), vectors[i] as Float32Array),
      );
      expect(Math.min(...cosines)).toBeGreaterThan(FP16_COSINE);
    });
  },
);
