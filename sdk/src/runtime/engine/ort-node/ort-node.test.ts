import { describe, expect, it } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { TargetName } from "../../../artifact/manifest.ts";
import { withVectorOutput } from "../../../compile/model/vector-output.ts";
import { encodeOnnx } from "../../../compile/onnx/to-onnx.ts";
import { oneModel } from "../engine.ts";
import { ortNodeEngine } from "./index.ts";
import { onnxruntimeNode } from "./onnxruntime-node.ts";

/** Returns the model files of an artifact with these targets. Their bytes are not a valid model. */
const sourceWith = (...targets: TargetName[]) => ({
  ...oneModel(new Uint8Array(9)),
  async read(target: TargetName) {
    if (targets.includes(target)) return new Uint8Array(9);
    throw new BertEdgeError("target_missing", `no ${target}`);
  },
});

describe("ortNodeEngine", () => {
  const engine = ortNodeEngine({ providers: ["cuda", "cpu"] });

  it("lets onnxruntime log nothing, because it throws the same errors", async () => {
    expect((await onnxruntimeNode()).env.logLevel).toBe("fatal");
  });

  it("reports missing targets when that is the only reason why it cannot load", async () => {
    await expect(engine.load(sourceWith("edge"))).rejects.toMatchObject({ code: "target_missing" });
  });

  it("reports why it could not load the files that exist", async () => {
    await expect(engine.load(sourceWith("regional-cpu"))).rejects.toMatchObject({
      code: "engine_failed",
      cause: { errors: [{ code: "target_missing" }, expect.any(Error)] },
    });
  });

  it("runs on the first provider that loads the model, and says why the others do not", async () => {
    const { config, weights } = tinyBert();
    const graph = await fusedGraph(config, weights);
    const head = { pooling: "mean", normalize: true } as const;
    const session = await engine.load(oneModel(encodeOnnx(withVectorOutput(graph, head))));
    const pooledHere = await ortNodeEngine().load(oneModel(encodeOnnx(graph)));
    try {
      expect(session).toMatchObject({ provider: "cpu", target: "regional-cpu" });
      expect(session.passedOver).toEqual([{ provider: "cuda", why: expect.stringMatching(/cuda/i) }]);
      const texts = [Int32Array.of(2, 7, 30, 41, 3), Int32Array.of(2, 9, 3)];
      const wanted = await pooledHere.run(texts, head);
      (await session.run(texts, head)).forEach((vector, i) => {
        vector.forEach((value, at) => {
          expect(value).toBeCloseTo((wanted[i] as Float32Array)[at] as number, 6);
        });
      });
      expect(await session.run(texts)).toEqual(await pooledHere.run(texts));
    } finally {
      await session.release();
      await pooledHere.release();
    }
  });
});
