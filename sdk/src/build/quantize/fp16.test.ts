import { describe, expect, it } from "vitest";
import { attendedStates, largestDifference, randomBatch } from "../../../../test/suites/encoder-batch.ts";
import { fusedGraph } from "../../../../test/suites/fused-graph.ts";
import { tinyBert } from "../../../../test/suites/tiny-bert.ts";
import { cosine } from "../../runtime/tasks/sentence-vector.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { toFp16 } from "./fp16.ts";

/** Of a state to that of the float32 model. Ten bits of mantissa measure 0.999 998 at worst over six seeds. */
const LEAST_COSINE = 0.999_99;

const { config, weights } = tinyBert();
const fused = await fusedGraph(config, weights);
const batch = randomBatch(
  [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 1],
    [0, 1, 1, 0, 1, 0],
  ],
  50,
);

describe("toFp16", () => {
  it("stays close to the float32 model under every padding", async () => {
    const expected = await attendedStates(encoderGraph(config, weights), batch);
    const states = await attendedStates(toFp16(fused), batch);
    states.forEach((state, i) => {
      expect(cosine(state, expected[i] as Float32Array)).toBeGreaterThan(LEAST_COSINE);
    });
    // Were it float32 throughout, it would be closer than halves can be.
    expect(largestDifference(states, expected)).toBeGreaterThan(1e-4);
  });

  it("has every weight in half precision, and inputs and outputs as they were", () => {
    const graph = toFp16(fused);
    const weightTypes = [...graph.constants()].map(({ dtype }) => dtype).filter((dtype) => dtype?.startsWith("float"));
    expect(new Set(weightTypes)).toEqual(new Set(["float16"]));
    expect(weightTypes).toHaveLength([...fused.constants()].filter(({ dtype }) => dtype === "float32").length);
    const declared = ({ inputs, outputs }: typeof graph) => [
      ...inputs.map(({ name, dtype, shape }) => [name, dtype, `${shape}`]),
      ...outputs.map(({ name, value: { dtype, shape } }) => [name, dtype, `${shape}`]),
    ];
    expect(declared(graph)).toEqual(declared(fused));
  });
});
