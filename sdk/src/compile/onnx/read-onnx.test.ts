import { copyFile, mkdir, readFile, rename, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { NamedGraph } from "#test/fixtures/named-graph.ts";
import { overwriteEnd } from "#test/fixtures/overwrite-end.ts";
import { refusal, refusalOf } from "#test/fixtures/refusal.ts";
import { describeShared } from "#test/fixtures/shared.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { bytesOf } from "../files/stored-file.ts";
import { tensor } from "../graph/tensor.ts";
import { encodeModel } from "../proto/encode-model.ts";
import { readOnnx } from "./read-onnx.ts";
import { writeOnnx } from "./write-onnx.ts";

const FLOAT32 = 1;
const EXTERNAL = 1;
const numbers = new Uint8Array(Float32Array.of(1, 2, 3, 4).buffer);

/**
 * Makes a folder with a model and `weights.bin`, which holds four float32 numbers. The model has one tensor with two
 * numbers. `externalData` says where the tensor's data is.
 */
async function modelWith(externalData: Record<string, string>): Promise<string> {
  const folder = join(await temporaryFolder(), "model");
  await mkdir(folder);
  await writeFile(join(folder, "weights.bin"), numbers);
  const initializer = {
    name: "w",
    dims: [2n],
    dataType: FLOAT32,
    dataLocation: EXTERNAL,
    externalData: Object.entries(externalData).map(([key, value]) => ({ key, value })),
  };
  const model = encodeModel({ irVersion: 8n, graph: { name: "g", initializer: [initializer] } });
  await writeFile(join(folder, "model.onnx"), model.finish());
  return join(folder, "model.onnx");
}

const tensorOf = async (path: string) => (await readOnnx(path)).graph?.initializer[0];

describe("readOnnx", () => {
  it("reads the range of a file that a tensor names", async () => {
    const tensor = await tensorOf(await modelWith({ location: "weights.bin", offset: "4", length: "8" }));
    expect(tensor).toMatchObject({ name: "w", externalData: [], rawData: numbers.slice(4, 12) });
    expect(tensor).not.toHaveProperty("dataLocation");
  });

  it("reads from the file's start by default, and to its end", async () => {
    expect((await tensorOf(await modelWith({ location: "weights.bin" })))?.rawData).toEqual(numbers);
    expect((await tensorOf(await modelWith({ location: "weights.bin", offset: "12" })))?.rawData).toEqual(
      numbers.slice(12),
    );
  });

  it.each<[string, Record<string, string>]>([
    ["above the folder", { location: "../secret.bin" }],
    ["above the folder, through a path that starts inside", { location: "sub/../../secret.bin" }],
    ["at an absolute path", { location: "/etc/hostname" }],
    ["without a location", {}],
    ["in the folder itself", { location: "." }],
    ["in a missing file", { location: "missing.bin" }],
    ["beyond the file's end", { location: "weights.bin", offset: "12", length: "8" }],
    ["at an offset beyond the end", { location: "weights.bin", offset: "17" }],
    ["at a negative offset", { location: "weights.bin", offset: "-4", length: "4" }],
    ["at an offset that is not a number", { location: "weights.bin", offset: "0x4" }],
    ["with a length that is too large for a number", { location: "weights.bin", length: "9".repeat(30) }],
    ["behind a link that leaves the folder", { location: "link.bin" }],
  ])("refuses external data %s", async (_, externalData) => {
    const path = await modelWith(externalData);
    const secret = join(path, "../../secret.bin");
    await writeFile(secret, numbers);
    await symlink(secret, join(path, "../link.bin"));
    expect(await refusalOf(readOnnx(path))).toBe("external_data_invalid");
  });

  it("names the tensor and the file", async () => {
    await expect(readOnnx(await modelWith({ location: "missing.bin" }))).rejects.toThrow(/tensor w in missing\.bin/);
  });

  it("refuses a missing model", async () => {
    expect(await refusalOf(readOnnx(join(await temporaryFolder(), "model.onnx")))).toBe("onnx_missing");
  });
});

/** Writes a model with its weights in the same file, or in a second file if they exceed `maxInlineBytes`. */
async function largeModel(maxInlineBytes?: number): Promise<string> {
  const path = join(await temporaryFolder(), "model.onnx");
  const g = new NamedGraph("large", [{ name: "x", dtype: "float32", shape: ["n", 1] }]);
  g.op("y", "Add", ["x", g.constant("w", tensor("float32", [4096, 1024], largeNumbers))]);
  await writeOnnx(path, g.outputs("y"), {}, maxInlineBytes === undefined ? {} : { maxInlineBytes });
  return path;
}
const largeNumbers = Float32Array.from({ length: 4096 * 1024 }, (_, i) => i);

describe.each([
  ["in the file", undefined, "model.onnx"],
  ["in a second file", 0, "model.onnx.data"],
])("large weights %s", (_, maxInlineBytes, name) => {
  it("are read when they are used", async () => {
    const path = await largeModel(maxInlineBytes);
    const file = join(path, "..", name);
    await utimes(file, 1, 1);
    const weight = await tensorOf(path);
    const data = () => (weight?.rawData ? bytesOf(weight.rawData) : new Uint8Array());
    expect(Buffer.compare(data(), new Uint8Array(largeNumbers.buffer))).toBe(0);
    // Changes the bytes but not the date of the file. Reading then does not detect the change and returns the new
    // bytes.
    const end = new Uint8Array(await readFile(file)).map((byte) => byte ^ 1);
    await overwriteEnd(file, end);
    await utimes(file, 1, 1);
    expect(data()[0]).toBe(1 ^ (new Uint8Array(largeNumbers.buffer)[0] as number));
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ["was cut off", (path) => truncate(path, 1000)],
    ["was replaced", (path) => copyFile(path, `${path}.copy`).then(() => rename(`${path}.copy`, path))],
  ])("are refused if the file %s after it was read", async (_, change) => {
    const path = await largeModel(maxInlineBytes);
    const weight = await tensorOf(path);
    await change(join(path, "..", name));
    expect(refusal(() => weight?.rawData && bytesOf(weight.rawData))).toBe("file_changed");
  });
});

describeShared("models/all-MiniLM-L6-v2", "all-MiniLM-L6-v2 as PyTorch exports it", (folder) => {
  it("has its token embedding table in the safetensors file in its folder", async () => {
    const { graph } = await readOnnx(join(folder, "model.onnx"));
    const table = graph?.initializer.find(({ dims }) => dims.join() === "30522,384");
    const file = await readFile(join(folder, "model.safetensors"));
    const header = file.subarray(8, 8 + Number(file.readBigUInt64LE(0)));
    const [begin, end] = JSON.parse(header.toString())["embeddings.word_embeddings.weight"].data_offsets;
    const body = file.subarray(8 + header.length);
    expect(Buffer.compare(table?.rawData ? bytesOf(table.rawData) : new Uint8Array(), body.subarray(begin, end))).toBe(
      0,
    );
  });
});
