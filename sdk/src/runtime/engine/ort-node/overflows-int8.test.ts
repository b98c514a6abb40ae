import { InferenceSession, Tensor } from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { Graph } from "../../../compile/graph/graph.ts";
import { tensor } from "../../../compile/graph/tensor.ts";
import { encodeOnnx } from "../../../compile/onnx/to-onnx.ts";
import { EXACT_INT8, overflowsInt8, PROBE } from "./overflows-int8.ts";

const DEPTH = 4;

/** y = MatMulInteger(a, w), where all weights are 127. */
function probe(columns: number): Uint8Array<ArrayBuffer> {
  const graph = new Graph("probe");
  graph.opsets.set("", 13);
  const a = graph.input("a", { dtype: "uint8", shape: [1, DEPTH] });
  const w = graph.constant("w", tensor("int8", [DEPTH, columns], new Int8Array(DEPTH * columns).fill(127)));
  const y = graph.add("MatMulInteger", [a, w], { outputs: ["y"] }).output;
  graph.outputs.push({ name: "y", value: y, declaration: undefined });
  return encodeOnnx(graph);
}

describe("overflowsInt8", () => {
  it("asks the model that its comment describes", () => {
    expect(PROBE).toBe(Buffer.from(probe(1)).toString("base64"));
  });

  it("predicts whether larger products are exact; with EXACT_INT8 they are on every CPU", async () => {
    const a = new Tensor("uint8", new Uint8Array(DEPTH).fill(255), [1, DEPTH]);
    const exact = DEPTH * 255 * 127;
    for (const columns of [1, 3, 16, 40]) {
      for (const options of [{}, EXACT_INT8]) {
        const session = await InferenceSession.create(probe(columns), { intraOpNumThreads: 1, ...options });
        const sums = Array.from((await session.run({ a }))["y"]?.data as Int32Array);
        const isExact = sums.every((sum) => sum === exact);
        expect(isExact, `${columns} columns`).toBe(options === EXACT_INT8 || !(await overflowsInt8()));
        await session.release();
      }
    }
  });
});
