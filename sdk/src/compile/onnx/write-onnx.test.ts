import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import * as ort from "onnxruntime-node";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { tensor } from "../graph/tensor.ts";
import { fromOnnx } from "./from-onnx.ts";
import { readOnnx } from "./read-onnx.ts";
import { writeOnnx } from "./write-onnx.ts";

const weights = Float32Array.from({ length: 600 }, (_, i) => i / 8);
const others = Float32Array.from({ length: 300 }, (_, i) => -i);

function sums() {
  const g = new NamedGraph("sums", [{ name: "x", dtype: "float32", shape: ["n", 300] }]);
  g.op("double", "Add", ["x", g.constant("others", tensor("float32", [300], others))]);
  const table = g.constant("weights", tensor("float32", [2, 300], weights));
  g.op("scaled", "Mul", ["double", g.constant("small", tensor("float32", [1], Float32Array.of(0.5)))]);
  g.op("y", "Add", ["scaled", table]);
  return g.outputs("y");
}

async function compute(path: string): Promise<number[]> {
  const session = await ort.InferenceSession.create(path);
  try {
    const x = new ort.Tensor("float32", new Float32Array(600).fill(3), [2, 300]);
    const { y } = await session.run({ x });
    return Array.from(y?.data as Float32Array);
  } finally {
    await session.release();
  }
}
const expected = [...weights].map((weight, i) => Math.fround((3 + (others[i % 300] as number)) * 0.5 + weight));

describe("writeOnnx", () => {
  it("writes one file that onnxruntime reads", async () => {
    const folder = await temporaryFolder();
    await writeOnnx(join(folder, "model.onnx"), sums());
    expect(await readdir(folder)).toEqual(["model.onnx"]);
    expect(await compute(join(folder, "model.onnx"))).toEqual(expected);
  });

  it("writes large weights to a second file, aligned to pages, if they do not fit", async () => {
    const folder = await temporaryFolder();
    const path = join(folder, "model.onnx");
    await writeOnnx(path, sums(), {}, { maxInlineBytes: 2000 });
    expect((await readdir(folder)).sort()).toEqual(["model.onnx", "model.onnx.data"]);
    expect((await stat(path)).size).toBeLessThan(1000);
    expect((await stat(`${path}.data`)).size).toBe(4096 + 2400);
    expect(await compute(path)).toEqual(expected);
    const constants = [...fromOnnx(await readOnnx(path)).constants()].map(({ name, constant }) => [
      name,
      constant?.shape,
    ]);
    expect(new Map(constants as [string, number[]][])).toEqual(
      new Map([
        ["others", [300]],
        ["small", [1]],
        ["weights", [2, 300]],
      ]),
    );
  });
});
