import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { quantizedSoftmax } from "#test/fixtures/quantized-softmax.ts";
import { refusal, refusalOf } from "#test/fixtures/refusal.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { encoderGraph } from "../checkpoint/encoder-graph.ts";
import type { Graph } from "../graph/graph.ts";
import { int } from "../graph/node.ts";
import { float32Scalar, tensor } from "../graph/tensor.ts";
import { dataTypes } from "../onnx/tensor-proto.ts";
import { writeOnnx } from "../onnx/write-onnx.ts";
import { judgeParity, modelParity, modelParityInSubprocess } from "./model-parity.ts";

async function files(...graphs: readonly Graph[]): Promise<string[]> {
  const folder = await temporaryFolder();
  return Promise.all(
    graphs.map(async (graph, i) => {
      const path = join(folder, `${i}.onnx`);
      await writeOnnx(path, graph);
      return path;
    }),
  );
}

/** Returns the graph of y = operator(x, value). */
function shifted(operator: string, value: number): Graph {
  const g = new NamedGraph("shifted", [{ name: "x", dtype: "float32", shape: ["batch", "sequence"] }]);
  g.op("y", operator, ["x", g.constant("c", float32Scalar(value))]);
  return g.outputs("y");
}

const compare = async (a: Graph, b: Graph) => {
  const [original = "", rewritten = ""] = await files(a, b);
  return modelParity(original, rewritten);
};

describe("modelParity", () => {
  it("finds no difference between a model and itself, on every probe batch that fits its positions", async () => {
    const { config, weights } = tinyBert();
    const graph = encoderGraph(config, weights);
    const parity = await compare(graph, graph);
    expect(parity.maxAbs).toBeLessThan(1e-5);
    expect(parity.cosine).toBeGreaterThan(0.999_999);
    // Four of the six batches fit. The batches of 31 and 139 tokens are longer than the 16 positions.
    expect(parity.cases).toBe(4);
  });

  it("measures the largest difference, and its share of the tolerance", async () => {
    const parity = await compare(shifted("Add", 0), shifted("Add", 0.25));
    expect(parity.maxAbs).toBeCloseTo(0.25, 6);
    expect(parity.ofTolerance).toBeGreaterThan(1000);
    expect(parity.cosine).toBeLessThan(1);
    expect(parity.cases).toBe(6);
    expect((await compare(shifted("Add", 0), shifted("Add", 5e-5))).ofTolerance).toBeLessThan(1);
    expect((await compare(shifted("Add", 0), shifted("Add", 3e-4))).ofTolerance).toBeGreaterThan(1);
  });

  it("counts a number that became NaN as an infinite difference", async () => {
    const parity = await compare(shifted("Add", 0), shifted("Div", 0));
    expect(parity.maxAbs).toBe(Number.POSITIVE_INFINITY);
    expect(parity.ofTolerance).toBe(Number.POSITIVE_INFINITY);
  });

  it("pads on both sides: a model that ignores its mask differs from one that does not", async () => {
    const mask = { name: "attention_mask", dtype: "int64" as const, shape: ["batch", "sequence"] };
    const read = new NamedGraph("read", [mask]);
    read.op("y", "Identity", ["attention_mask"]);
    const ignored = new NamedGraph("ignored", [mask]);
    const one = ignored.constant("one", tensor("int64", [], BigInt64Array.of(1n)));
    ignored.op("y", "Max", ["attention_mask", one]);
    expect((await compare(read.outputs("y"), ignored.outputs("y"))).maxAbs).toBe(1);
  });

  it("feeds only token ids that the tables contain", async () => {
    const table = (rows: number) => {
      const g = new NamedGraph("table", [{ name: "ids", dtype: "int64", shape: ["batch", "sequence"] }]);
      const values = Float32Array.from({ length: rows * 2 }, (_, i) => i);
      g.op("y", "Gather", [g.constant("table", tensor("float32", [rows, 2], values)), "ids"]);
      return g.outputs("y");
    };
    expect((await compare(table(3), table(3))).cases).toBe(6);
  });

  /** Returns a graph that computes the length of an input. If the input is longer than `most`, the result is `most`. */
  function lengthOf(input: "a" | "b", most: bigint): Graph {
    const g = new NamedGraph("length", [
      { name: "a", dtype: "float32", shape: ["batch", "sequence"] },
      { name: "b", dtype: "float32", shape: ["batch", "other_sequence"] },
    ]);
    const axis = g.constant("axis", tensor("int64", [1], BigInt64Array.of(1n)));
    const limit = g.constant("limit", tensor("int64", [], BigInt64Array.of(most)));
    g.op("length", "Min", [g.op("size", "Gather", [g.op("sizes", "Shape", [input]), axis]), limit]);
    g.op("y", "Cast", ["length"], { to: int(dataTypes.float32) });
    return g.outputs("y");
  }

  it("feeds inputs of different lengths when their sizes have different names", async () => {
    expect((await compare(lengthOf("a", 1000n), lengthOf("a", 1000n))).maxAbs).toBe(0);
    expect((await compare(lengthOf("a", 1000n), lengthOf("b", 1000n))).maxAbs).toBeGreaterThan(0);
  });

  it("feeds more than 100 tokens", async () => {
    expect((await compare(lengthOf("a", 1000n), lengthOf("a", 100n))).maxAbs).toBeGreaterThan(0);
  });

  it("refuses an original that never runs", async () => {
    const g = new NamedGraph("never", [{ name: "x", dtype: "float32", shape: ["batch", "sequence"] }]);
    g.op("y", "Reshape", ["x", g.constant("shape", tensor("int64", [1], BigInt64Array.of(7n)))]);
    const graph = g.outputs("y");
    await expect(compare(graph, graph)).rejects.toMatchObject({
      code: "parity_impossible",
      message: expect.stringMatching(/The original model runs on none of the probe inputs: .*Reshape/),
      hint: expect.stringContaining("dynamic sizes"),
    });
  });
});

describe("modelParity and onnxruntime's own optimizations", () => {
  it("does not count what they change in both models, and reports it", async () => {
    const { maxAbs, ofTolerance, optimizer } = await compare(quantizedSoftmax(true), quantizedSoftmax(true));
    expect({ maxAbs, ofTolerance }).toEqual({ maxAbs: 0, ofTolerance: 0 });
    expect(optimizer).toMatchObject({ served: { maxAbs: 0 } });
    expect(optimizer?.original.ofTolerance).toBeGreaterThan(1);
    expect(optimizer?.rewritten).toEqual(optimizer?.original);
  });

  it("reports what they change in the rewritten model only", async () => {
    const { ofTolerance, optimizer } = await compare(quantizedSoftmax(false), quantizedSoftmax(true));
    expect(ofTolerance).toBe(0);
    expect(optimizer?.original.ofTolerance).toBe(0);
    expect(optimizer?.served.ofTolerance).toBeGreaterThan(1);
  });

  it("reports nothing if they change only the original", async () => {
    const { ofTolerance, optimizer } = await compare(quantizedSoftmax(true), quantizedSoftmax(false));
    expect({ ofTolerance, optimizer }).toEqual({ ofTolerance: 0, optimizer: undefined });
  });
});

describe("modelParity and models that onnxruntime cannot load", () => {
  const unknown = () => {
    const g = new NamedGraph("unknown", [{ name: "x", dtype: "float32", shape: ["batch", "sequence"] }]);
    g.op("y", "NoSuchOperator", ["x"]);
    return g.outputs("y");
  };

  it.each([
    ["original", unknown, () => shifted("Add", 0)],
    ["rewritten", () => shifted("Add", 0), unknown],
  ])("says that it is the %s", async (which, a, b) => {
    await expect(compare(a(), b())).rejects.toMatchObject({
      code: "parity_impossible",
      message: expect.stringContaining(`onnxruntime cannot load the ${which} model: `),
    });
  });
});

describe("modelParityInSubprocess", () => {
  it("returns the same as modelParity", async () => {
    const [a = "", b = ""] = await files(shifted("Add", 0), shifted("Add", 0.25));
    expect(await modelParityInSubprocess(a, b)).toEqual(await modelParity(a, b));
  });

  it("passes on errors that prevent the comparison", async () => {
    const [a = ""] = await files(shifted("Add", 0));
    expect(await refusalOf(modelParityInSubprocess(`${a}.missing`, a))).toBe("onnx_missing");
    expect(await refusalOf(modelParityInSubprocess(a, `${a}.missing`))).toBe("parity_impossible");
  });
});

const none = { maxAbs: 0, ofTolerance: 0, cosine: 1 };
const large = { maxAbs: 0.98, ofTolerance: 9, cosine: 0.9 };

describe("judgeParity", () => {
  it("accepts a difference up to the tolerance, without warnings", () => {
    expect(judgeParity({ ...none, ofTolerance: 1, cases: 5, optimizer: undefined })).toEqual([]);
  });

  it.each([1.01, Number.NaN])("refuses %s of the tolerance", (ofTolerance) => {
    expect(refusal(() => judgeParity({ ...none, ofTolerance, cases: 5, optimizer: undefined }))).toBe(
      "parity_exceeded",
    );
  });

  it.each([
    ["alike", none],
    ["differently", large],
  ])("warns if onnxruntime changes both models %s", (_, served) => {
    const parity = { ...none, cases: 5, optimizer: { original: large, rewritten: large, served } };
    expect(judgeParity(parity)).toEqual([expect.stringMatching(/onnxruntime's own optimizations .*0\.98.*0\.98/)]);
  });

  it("refuses a model that onnxruntime changes, but not its original", () => {
    const parity = { ...none, cases: 5, optimizer: { original: none, rewritten: large, served: large } };
    expect(() => judgeParity(parity)).toThrow(
      expect.objectContaining({
        code: "parity_exceeded",
        message: expect.stringContaining("but not the original's: by up to 0.98"),
        hint: expect.stringContaining("--no-parity"),
      }),
    );
  });
});
