import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { runs } from "#test/fixtures/sampled.ts";
import { randomNumbers, seeded } from "#test/fixtures/seeded.ts";
import { Sketch } from "#test/fixtures/sketch.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { engineOnThisMachine } from "../../local/engines.ts";
import { type Engine, oneModel } from "../../runtime/engine/engine.ts";
import { BLOCK } from "../../runtime/engine/wasm/run/layout.ts";
import type { Graph } from "../graph/graph.ts";
import { MICROSOFT, type Value } from "../graph/node.ts";
import { precisions } from "../quantize/precisions.ts";
import { encodeProgram } from "./encode-program.ts";

const [WIDTH, VOCABULARY] = [32, 60];
/** Text lengths. The longest text needs more than one attention block. */
const LENGTHS = [1, 5, 17, BLOCK + 12];
const size = { maxTokens: BLOCK + 16, vocabulary: VOCABULARY };
const texts = LENGTHS.map((length) => Int32Array.from({ length }, (_, i) => (7 * i + length) % VOCABULARY));

/** A random value of the graph, with one row per token or one row per text. */
interface Drawn {
  readonly value: Value;
  readonly width: number;
  readonly isOfTexts?: boolean;
}

/**
 * Draws a random graph. Each node reads values of earlier nodes. It may read the same value several times, or only some
 * of the columns of a value.
 */
function drawnGraph(seed: number): Graph {
  const random = randomNumbers(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(items.length * random())] as T;
  const s = new Sketch();
  const ids = s.input("input_ids", ["batch", "sequence"], "int64");
  const all: Drawn[] = [{ value: s.op("Gather", [s.random([VOCABULARY, WIDTH]), ids]), width: WIDTH }];
  const like = ({ width, isOfTexts }: Drawn) =>
    pick(all.filter((other) => other.width === width && other.isOfTexts === isOfTexts));
  const unary = (value: (x: Drawn) => Value) => {
    const x = pick(all);
    all.push({ ...x, value: value(x) });
  };
  const microsoft = { domain: MICROSOFT };
  const draws: (() => void)[] = [
    () => {
      const [x, width] = [pick(all), pick([12, WIDTH, 2 * WIDTH])];
      const y = s.op("MatMul", [x.value, s.random([x.width, width])]);
      all.push({ ...x, width, value: random() < 0.5 ? y : s.op("Add", [y, s.random([width])]) });
    },
    () => unary(({ value }) => s.op(pick(["Relu", "Tanh", "Sigmoid"]), [value])),
    () => unary(({ value }) => s.op(pick(["Gelu", "FastGelu", "QuickGelu"]), [value], {}, microsoft)),
    () => unary(({ value, width }) => s.op(pick(["BiasGelu", "FastGelu"]), [value, s.random([width])], {}, microsoft)),
    () => unary(({ value, width }) => s.op("Add", [value, s.random([width])])),
    () => unary((x) => s.op(pick(["Add", "Mul"]), [x.value, like(x).value])),
    () => unary(({ value, width }) => s.op("LayerNormalization", [value, s.random([width]), s.random([width])])),
    () => {
      const x = pick(all);
      const row = () => s.random([x.width]);
      const inputs = [
        x.value,
        random() < 0.3 ? row() : like(x).value,
        row(),
        row(),
        ...(random() < 0.5 ? [row()] : []),
      ];
      const outputs = ["normalized", "", "", "total"];
      const node = s.node("SkipLayerNormalization", inputs, { epsilon: { float: 1e-5 } }, { ...microsoft, outputs });
      all.push({ ...x, value: node.outputs[0] as Value });
      if (random() < 0.6) all.push({ ...x, value: node.outputs[3] as Value });
    },
    () => {
      const x = pick(all);
      if (x.width % 8 !== 0) return;
      const { outputs } = s.node("Split", [x.value, [x.width / 2, x.width / 2]], { axis: -1 }, { outputs: ["a", "b"] });
      for (const value of outputs) all.push({ ...x, value: value as Value, width: x.width / 2 });
    },
    () => {
      const x = pick(all);
      const from = 4 * Math.floor((random() * x.width) / 4);
      const to = from + 4 * Math.ceil((random() * (x.width - from)) / 4);
      const value = s.op("Slice", [x.value, [from], [random() < 0.2 && to === x.width ? 2 ** 40 : to], [-1]]);
      all.push({ ...x, value, width: to - from });
    },
    () => {
      const x = pick(all);
      if (x.isOfTexts || random() < 0.7) return;
      all.push({ ...x, isOfTexts: true, value: s.op("Gather", [x.value, s.index(0)], { axis: 1 }) });
    },
  ];
  for (let count = 2 + Math.floor(9 * random()); count > 0; count--) pick(draws)();
  s.output(pick(all.slice(-3)).value, "result");
  if (random() < 0.3) s.output(pick(all).value, "other");
  s.graph.prune();
  return s.graph;
}

/** Resolves to undefined if the graph has nothing to quantize, or if the engine cannot run it. */
const unlessRefused = <T>(work: Promise<T>): Promise<T | undefined> =>
  work.catch((error: unknown) => {
    if (error instanceof BertEdgeError && ["engine_unsupported", "nothing_to_quantize"].includes(error.code))
      return undefined;
    throw error;
  });

describe("a program of a random graph", () => {
  const count = runs(80, 400);
  let engine: Engine;
  beforeAll(async () => {
    engine = await engineOnThisMachine("wasm");
  });

  it("computes the same bits as the reference kernels, unless it is refused", async () => {
    let ran = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const bits = (bit: number) => ((seed >> bit) % 2 ? 4 : 8);
        const options = { weightBits: bits(0), tableBits: bits(1) } as const;
        const graph = await unlessRefused((async () => precisions["int8-edge"](drawnGraph(seed), options)())());
        // With one byte, weights of 4 bits are expanded in each call.
        const maxMemory = seed % 8 < 4 ? Number.POSITIVE_INFINITY : 1;
        const file = graph && (await unlessRefused(encodeProgram(graph, { ...size, maxMemory })));
        if (!file) return;
        ran++;
        const session = await engine.load(oneModel(file));
        expect(await session.run(texts)).toEqual(await referenceSession(graph).run(texts));
      }),
      seeded(count),
    );
    expect(ran).toBeGreaterThan(count / 4);
  });
});
