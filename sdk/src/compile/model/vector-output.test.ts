import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { runGraph } from "#test/oracles/run-graph.ts";
import { VECTOR_OUTPUT } from "../../runtime/engine/ort-run.ts";
import { sentenceVector } from "../../runtime/tasks/sentence-vector.ts";
import type { DataType } from "../graph/tensor.ts";
import { withVectorOutput } from "./vector-output.ts";

const [WIDTH, TOKENS] = [6, 5];
/** onnxruntime adds in float32, `sentenceVector` in float64. */
const TOLERANCE = 1e-6;
const lengths = [5, 3, 1];

const random = randomNumbers(8);
/** Hidden states of padding are large: a vector that counts them is far off. */
const states = Float32Array.from({ length: lengths.length * TOKENS * WIDTH }, (_, i) => {
  const token = Math.floor(i / WIDTH) % TOKENS;
  const isPadding = token >= (lengths[Math.floor(i / (WIDTH * TOKENS))] as number);
  return isPadding ? 1e6 : 4 * random() - 3;
});
const mask = lengths.flatMap((length) => Array.from({ length: TOKENS }, (_, i) => (i < length ? 1 : 0)));

const masks = {
  int64: () => new ort.Tensor("int64", BigInt64Array.from(mask, BigInt), [lengths.length, TOKENS]),
  int32: () => new ort.Tensor("int32", Int32Array.from(mask), [lengths.length, TOKENS]),
  float32: () => new ort.Tensor("float32", Float32Array.from(mask), [lengths.length, TOKENS]),
} as const;

function encoder(opset: number, maskType: DataType, hasMask = true) {
  const s = new Sketch(opset);
  const x = s.input("x", ["batch", "sequence", WIDTH]);
  if (hasMask) s.input("attention_mask", ["batch", "sequence"], maskType);
  s.output(s.op("Identity", [x]), "last_hidden_state");
  return s.graph;
}

describe.each([11, 13, 17, 18])("withVectorOutput, opset %i", (opset) => {
  it.each(
    (["mean", "cls", "max", "last"] as const).flatMap((pooling) =>
      [true, false].map((normalize) => ({ pooling, normalize, maskType: "int64" as const })),
    ),
  )("pools as sentenceVector does: $pooling, normalize $normalize", async (head) => {
    await compare(encoder(opset, head.maskType), head, "int64");
  });

  it.each(["int32", "float32"] as const)("reads a mask of %s", async (maskType) => {
    await compare(encoder(opset, maskType), { pooling: "mean", normalize: true }, maskType);
    await compare(encoder(opset, maskType), { pooling: "max", normalize: false }, maskType);
  });
});

async function compare(
  graph: ReturnType<typeof encoder>,
  head: Parameters<typeof withVectorOutput>[1],
  maskType: keyof typeof masks,
) {
  const nodes = [...graph.nodes].length;
  const feeds = {
    x: new ort.Tensor("float32", states, [lengths.length, TOKENS, WIDTH]),
    attention_mask: masks[maskType](),
  };
  const [found] = await runGraph(withVectorOutput(graph, head), [feeds]);
  const vectors = found?.[VECTOR_OUTPUT] as ort.Tensor;
  expect(vectors.dims).toEqual([lengths.length, WIDTH]);
  lengths.forEach((length, row) => {
    const start = row * TOKENS * WIDTH;
    const wanted = sentenceVector(states.subarray(start, start + length * WIDTH), WIDTH, head);
    wanted.forEach((value, i) => {
      expect(Math.abs(((vectors.data as Float32Array)[row * WIDTH + i] as number) - value)).toBeLessThan(TOLERANCE);
    });
  });
  expect([...graph.nodes]).toHaveLength(nodes);
}

it("leaves a graph without attention_mask as it is", () => {
  const graph = encoder(17, "int64", false);
  expect(withVectorOutput(graph, { pooling: "mean", normalize: true })).toBe(graph);
});
