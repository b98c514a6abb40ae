import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { randomSequences, TINY_EDGE, tinyEncoders } from "#test/fixtures/tiny-edge-file.ts";
import { referenceSession } from "#test/oracles/interpreter/reference-session.ts";
import { type Build, builds, compiledKernels } from "#test/suites/kernels/builds.ts";
import { commonDrawing } from "#test/suites/kernels/drawing.ts";
import { type Engine, oneModel } from "../../runtime/engine/engine.ts";
import { WEIGHT_BLOCK } from "../../runtime/engine/wasm/constants/tiles.ts";
import { wasmEngine } from "../../runtime/engine/wasm/index.ts";
import type { Step } from "../../runtime/engine/wasm/ops/index.ts";
import { type WeightGroup, weightGroups } from "../../runtime/engine/wasm/ops/linear.ts";
import { type ExpandTime, expandTimes } from "../../runtime/engine/wasm/ops/operation.ts";
import { PROGRAM_VERSION, type Program } from "../../runtime/engine/wasm/run/program.ts";
import type { Graph } from "../graph/graph.ts";
import { type Tensor, tensor } from "../graph/tensor.ts";
import { edgeQuantizers } from "../quantize/precisions.ts";
import { type Lowered, lowerGraph } from "./lower-graph.ts";
import { packWeight } from "./pack-weight.ts";
import { rowSums, tilePadded, tileWeight } from "./tile-weight.ts";
import { writeModelFile } from "./write-model-file.ts";

/** A linear layer with weights [out, in] on points of 4 bits. */
interface Layer {
  readonly inputs: number;
  readonly outputs: number;
  readonly group: WeightGroup;
}

const VOCABULARY = 5;
const TOKENS = 140;

const float32 = (data: Float32Array): Tensor => tensor("float32", [data.length], data as Float32Array<ArrayBuffer>);
const int32 = (data: Int32Array): Tensor => tensor("int32", [data.length], data as Int32Array<ArrayBuffer>);

function weightOf({ inputs, outputs, group }: Layer, seed: number): Tensor {
  const draw = commonDrawing(seed);
  const values = Array.from({ length: (outputs * inputs) / group }, () => {
    const [multiplier = 1] = draw.integers(1, 1, 8);
    const [base = 0] = draw.integers(1, 0, 127 - 15 * multiplier);
    return draw.integers(group, 0, 15).map((code) => base + multiplier * code);
  });
  return tensor("uint8", [outputs, inputs], Uint8Array.from(values.flat()));
}

/** Lowers a lookup and layers, each of which reads the rows that were looked up. The last result is the sum of all. */
function lowered(layers: readonly Layer[], seed: number, form: ExpandTime | "7 bits"): Lowered {
  const draw = commonDrawing(seed);
  const { inputs, outputs } = layers[0] as Layer;
  const packed = new Map<string, Tensor>();
  const others = new Map<string, Tensor>([
    ["table", tensor("uint8", [VOCABULARY, inputs], Uint8Array.from(draw.integers(VOCABULARY * inputs, 0, 255)))],
    ["rows", float32(draw.floats(1, VOCABULARY))],
  ]);
  const steps: Step[] = [
    { op: "lookup", table: "table", scales: "rows", bits: 8, out: 0 },
    { op: "quantize", x: 0, out: 1 },
  ];
  const values: Program["values"][number][] = [
    { width: inputs, of: "token", type: "f32" },
    { width: inputs, of: "token", type: "i8" },
  ];
  const add = (step: (out: number) => Step) => {
    const out = values.push({ width: outputs, of: "token", type: "f32" }) - 1;
    steps.push(step(out));
    return out;
  };
  const sum = layers.reduce<number | undefined>((total, layer, i) => {
    const weight = weightOf(layer, seed + i);
    const name = `weight ${i}`;
    packed.set(name, form === "7 bits" ? tileWeight(weight) : packWeight(weight, layer.group));
    const parameters = {
      scales: float32(tilePadded(draw.floats(1, outputs))),
      zeroPoints: int32(tilePadded(Int32Array.from(draw.integers(outputs, 0, 127)))),
      sums: int32(tilePadded(rowSums(weight.data, inputs, outputs))),
      bias: float32(tilePadded(draw.floats(1, outputs))),
    };
    const names = { scales: `scales ${i}`, zeroPoints: `zero ${i}`, sums: `sums ${i}`, bias: `bias ${i}` };
    for (const part of ["scales", "zeroPoints", "sums", "bias"] as const) others.set(names[part], parameters[part]);
    const group = form === "7 bits" ? {} : { group: layer.group };
    const y = add((out) => ({ op: "linearInt8", x: 1, weight: name, ...group, ...names, out }));
    return total === undefined ? y : add((out) => ({ op: "add", x: total, y: { value: y }, out }));
  }, undefined);
  const sizes = { maxTokens: TOKENS, vocabulary: VOCABULARY, ...(form === "each call" && { expands: form }) };
  return {
    program: { version: PROGRAM_VERSION, values, steps, output: sum as number, ...sizes },
    tensors: new Map([...others, ...packed]),
  };
}

/** Lengths that fill part of a tile, more than a tile, and more than one block. */
const texts = [1, 7, TOKENS].map((length) => Int32Array.from({ length }, (_, i) => (3 * i + length) % VOCABULARY));

describe.each(builds)("weights of 4 bits, with kernels for %s", (build: Build) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = wasmEngine({ simd: await compiledKernels(build) });
  });
  /** Runs all texts. @returns the bytes of the results, which are compared far faster than many numbers */
  const resultOf = async (given: Lowered) => {
    const results = await (await engine.load(oneModel(writeModelFile(given)))).run(texts);
    return Buffer.concat(results.map(({ buffer }) => Buffer.from(buffer)));
  };

  const layers = fc
    .record({
      groups: fc.array(fc.constantFrom(...weightGroups), { minLength: 1, maxLength: 3 }),
      inputs: fc.constantFrom(32, 64, 96),
      outputs: fc.constantFrom(4, 8, 12, 20, 24, 36),
    })
    .map(({ groups, inputs, outputs }) => groups.map((group): Layer => ({ inputs, outputs, group })));

  it("compute the same bits whether they are expanded once or in each call, or stored in 7 bits", async () => {
    await fc.assert(
      fc.asyncProperty(layers, fc.nat(), async (given, seed) => {
        const wanted = await resultOf(lowered(given, seed, "7 bits"));
        for (const time of expandTimes) expect(wanted.equals(await resultOf(lowered(given, seed, time)))).toBe(true);
      }),
      seeded(40),
    );
  });

  it("compute the same bits when they are expanded in several blocks", async () => {
    const [inputs, outputs] = [3072, 348];
    expect(inputs * outputs).toBeGreaterThan(2 * WEIGHT_BLOCK);
    const given = weightGroups.map((group) => ({ inputs, outputs, group }));
    const wanted = await resultOf(lowered(given, 1, "7 bits"));
    for (const time of expandTimes) expect(wanted.equals(await resultOf(lowered(given, 1, time)))).toBe(true);
  });
});

describe.each(["bert", "modernbert", "nomic"] as const)("a %s with weights of 4 bits", (name) => {
  const engine = compiledKernels("simd").then((simd) => wasmEngine({ simd }));
  let quantized: (seed: number) => Promise<Graph>;
  beforeAll(async () => {
    const { config, weights } = tinyEncoders[name]();
    const { layers, quantizer } = edgeQuantizers(await fusedGraph(config, weights), undefined);
    quantized = (seed) => {
      const { integers } = commonDrawing(seed);
      const chosen = layers.flatMap(({ name: layer, weight }): [string, WeightGroup][] => {
        const group = ([undefined, 16, 32] as const)[integers(1, 0, 2)[0] as number];
        return group && (weight.constant.shape[0] as number) % group === 0 ? [[layer, group]] : [];
      });
      return quantizer({ tableBits: integers(1, 0, 1)[0] ? 4 : 8, groups: new Map(chosen) })();
    };
  });

  it("computes the same bits as the reference kernels, in groups of all sizes", async () => {
    const sequences = randomSequences(TINY_EDGE).filter((_, i) => i % 5 === 0);
    for (let seed = 1; seed <= 4; seed++) {
      const graph = await quantized(seed);
      const groups = [...graph.nodes].flatMap((node) => node.int("group") ?? []);
      expect(groups.length).toBeGreaterThan(0);
      const wanted = await referenceSession(graph).run(sequences);
      for (const expands of expandTimes) {
        const { program, tensors } = await lowerGraph(graph, TINY_EDGE);
        const file = writeModelFile({ program: { ...program, expands }, tensors });
        expect(await (await (await engine).load(oneModel(file))).run(sequences)).toEqual(wanted);
      }
    }
  });
});
