import { beforeEach, describe, expect, it } from "vitest";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { activationFormulas } from "../checkpoint/activation.ts";
import { writeEncoder } from "../checkpoint/encoder-graph.ts";
import { GraphWriter } from "../checkpoint/graph-writer.ts";
import { writeLayerNorm, writeLinear } from "../checkpoint/layers.ts";
import { axes } from "../checkpoint/positions.ts";
import { referenceSession } from "../evaluate/interpreter/reference-session.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { int } from "../graph/attribute.ts";
import type { Value } from "../graph/node.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";
import { precisions } from "../quantize/precisions.ts";
import { inferShapes } from "../shapes/infer-shapes.ts";
import { encodeProgram } from "./encode-program.ts";

const { config, weights } = tinyBert();
const { hiddenSize: hidden, vocabularySize: vocabulary } = config;
const texts = [
  [2, 9, 14, 7, 3],
  [2, 31, 3],
  [2, 8, 8, 40, 5, 6, 11, 3],
].map((ids) => Int32Array.from(ids));
const maxTokens = 8;

let random = randomNumbers(7);
beforeEach(() => {
  random = randomNumbers(7);
});
const drawn = (...shape: number[]): Tensor => {
  const count = shape.reduce((product, size) => product * size, 1);
  return tensor(
    "float32",
    shape,
    Float32Array.from({ length: count }, () => random() - 0.5),
  );
};
const map = (g: GraphWriter, name: string, x: Value, outputs: number, weight = drawn(outputs, hidden)): Value =>
  writeLinear(g, name, x, { weight, bias: drawn(outputs) });

/** Slices the last axis, in the form of exporters. */
const columns = (g: GraphWriter, x: Value, from: number, to: number, axis: number): Value =>
  g.op("columns", "Slice", [x, ...[from, to, axis].map((number) => axes(g, number))]);

/** What transformers' classes, and exports of ModernBERT, compute from an encoder's states, [batch, sequence, hidden], and how wide it is. */
const heads: Record<string, { width: number; write: (g: GraphWriter, states: Value) => Value }> = {
  "token classification": { width: 9, write: (g, states) => map(g, "classifier", states, 9) },
  "the span of an answer": { width: 2, write: (g, states) => map(g, "qa_outputs", states, 2) },
  "a gated half": {
    width: hidden / 2,
    write: (g, states) =>
      g.op("gate", "Mul", [
        activationFormulas.gelu(g, "gate.act", columns(g, states, 0, hidden / 2, 2)),
        columns(g, states, hidden / 2, 2 ** 40, -1),
      ]),
  },
  "a split of the last axis by its positive number": {
    width: hidden / 2,
    write(g, states) {
      const parts = g.graph.add("Split", [states], { outputs: ["first", "second"], attributes: { axis: int(2) } });
      return g.op("gate", "Mul", parts.outputs as [Value, Value]);
    },
  },
  "masked tokens": {
    width: vocabulary,
    write(g, states) {
      const transformed = activationFormulas.gelu(g, "transform.act", map(g, "transform.dense", states, hidden));
      const norm = { gamma: drawn(hidden), beta: drawn(hidden) };
      const normalized = writeLayerNorm(g, "transform.norm", transformed, norm, config.layerNormEpsilon);
      return map(g, "decoder", normalized, vocabulary, weights.tokens);
    },
  },
};

describe.each(Object.entries(heads))("a head for %s", (_, { width, write }) => {
  it("has logits for every token, as the plain code computes them", async () => {
    const g = new GraphWriter("head");
    const { hiddenStates } = writeEncoder(g, config, weights);
    g.graph.outputs.push({ name: "logits", value: write(g, hiddenStates), declaration: undefined });
    inferShapes(g.graph);
    await fuseGraph(g.graph);
    const graph = precisions["int8-edge"](g.graph)();
    const engine = await engineOnThisMachine("wasm");
    const session = await engine.load(oneModel(await encodeProgram(graph, { maxTokens, vocabulary })));
    const logits = await session.run(texts);
    expect(logits).toEqual(await referenceSession(graph).run(texts));
    expect(logits.map(({ length }) => length)).toEqual(texts.map(({ length }) => length * width));
  });
});
