import { expect, it } from "vitest";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { ortNodeEngine } from "../../runtime/engine/ort-node/index.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { encodeOnnx } from "../onnx/to-onnx.ts";
import { toFp16 } from "../quantize/fp16/to-fp16.ts";
import { compareNumbers } from "./compare-numbers.ts";
import { inFloat32 } from "./in-float32.ts";

const hiddenStates = async (graph: Graph): Promise<Float32Array> => {
  const session = await ortNodeEngine({ threads: 1, optimize: false }).load(oneModel(encodeOnnx(graph)));
  const [found = new Float32Array()] = await session.run([Int32Array.of(2, 9, 14, 7, 3)]);
  await session.release();
  return found;
};

it("computes in float32, with the weights of the float16 model", async () => {
  const { config, weights } = tinyBert();
  const graph = encoderGraph(config, weights);
  await fuseGraph(graph);
  const half = toFp16(graph);
  const whole = inFloat32(half);
  expect([...whole.nodes].flatMap(({ outputs }) => outputs.map((value) => value?.dtype))).not.toContain("float16");
  expect([...whole.constants()].map(({ dtype }) => dtype)).not.toContain("float16");
  const [exact, rounded, original] = [await hiddenStates(whole), await hiddenStates(half), await hiddenStates(graph)];
  const distance = (a: Float32Array, b: Float32Array) => compareNumbers(a, b, { absolute: 0, relative: 0 }).maxAbs;
  // Rounding the weights changes the result, and so does rounding the activations.
  expect(distance(exact, original)).toBeGreaterThan(1e-5);
  expect(distance(exact, rounded)).toBeGreaterThan(1e-5);
  expect(distance(exact, rounded)).toBeLessThan(1e-2);
});
