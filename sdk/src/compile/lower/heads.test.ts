import { beforeEach, describe, expect, it } from "vitest";
import { randomNumbers } from "#test/fixtures/seeded.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { oneModel } from "../../runtime/engine/engine.ts";
import { writeEncoder } from "../checkpoint/encoder-graph.ts";
import { GraphWriter } from "../checkpoint/graph-writer.ts";
import { activationFormulas, axes, writeLinear, writeNorm } from "../checkpoint/layers.ts";
import { fuseGraph } from "../fusions/fuse-graph.ts";
import { int, type Value } from "../graph/node.ts";
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
  const count = shape.reduce((total, size) => total * size, 1);
  return tensor(
    "float32",
    shape,
    Float32Array.from({ length: count }, () => random() - 0.5),
  );
};
const linear = (g: GraphWriter, name: string, x: Value, outputs: number, weight = drawn(outputs, hidden)): Value =>
  writeLinear(g, name, x, { weight, bias: drawn(outputs) });

/** Slices the last axis with the operator that exporters use. The axis may be given as 2 or −1. */
const columns = (g: GraphWriter, x: Value, from: number, to: number, axis: number): Value =>
  g.op("columns", "Slice", [x, ...[from, to, axis].map((number) => axes(g, number))]);

/**
 * Task heads as transformers' model classes and ModernBERT exports write them. `width` is the number of logits per
 * token.
 */
const heads: Record<string, { width: number; write: (g: GraphWriter, hiddenStates: Value) => Value }> = {
  "token classification": { width: 9, write: (g, hiddenStates) => linear(g, "classifier", hiddenStates, 9) },
  "question answering": { width: 2, write: (g, hiddenStates) => linear(g, "qa_outputs", hiddenStates, 2) },
  "a gate, by Slice": {
    width: hidden / 2,
    write: (g, hiddenStates) =>
      g.op("gate", "Mul", [
        activationFormulas.gelu(g, "gate.act", columns(g, hiddenStates, 0, hidden / 2, 2)),
        columns(g, hiddenStates, hidden / 2, 2 ** 40, -1),
      ]),
  },
  "a gate, by Split with a positive axis": {
    width: hidden / 2,
    write(g, hiddenStates) {
      const parts = g.graph.add("Split", [hiddenStates], {
        outputs: ["first", "second"],
        attributes: { axis: int(2) },
      });
      return g.op("gate", "Mul", parts.outputs as [Value, Value]);
    },
  },
  "masked tokens": {
    width: vocabulary,
    write(g, hiddenStates) {
      const transformed = activationFormulas.gelu(
        g,
        "transform.act",
        linear(g, "transform.dense", hiddenStates, hidden),
      );
      const norm = { gamma: drawn(hidden), beta: drawn(hidden) };
      const normalized = writeNorm(g, "transform.norm", transformed, norm, config);
      return linear(g, "decoder", normalized, vocabulary, weights.tokens);
    },
  },
};

describe.each(Object.entries(heads))("a head for %s", (_, { width, write }) => {
  it("computes the logits of every token like the reference kernels", async () => {
    const g = new GraphWriter("head");
    const { hiddenStates } = writeEncoder(g, config, weights);
    g.graph.outputs.push({ name: "logits", value: write(g, hiddenStates), declaration: undefined });
    inferShapes(g.graph);
    await fuseGraph(g.graph);
    const graph = await precisions["int8-edge"](g.graph)();
    const engine = await engineOnThisMachine("wasm");
    const session = await engine.load(oneModel(await encodeProgram(graph, { maxTokens, vocabulary })));
    const logits = await session.run(texts);
    expect(logits).toEqual(await referenceSession(graph).run(texts));
    expect(logits.map(({ length }) => length)).toEqual(texts.map(({ length }) => length * width));
  });
});
