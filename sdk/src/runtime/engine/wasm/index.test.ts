import { beforeAll, describe, expect, it } from "vitest";
import {
  randomSequences,
  TINY_EDGE,
  type TinyEncoder,
  tinyEdgeFile,
  tinyEncoders,
} from "#test/fixtures/tiny-edge-file.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { type Engine, oneModel } from "../engine.ts";
import { wasmEngine } from "./index.ts";
import { PROGRAM_VERSION } from "./run/program.ts";

const names = Object.keys(tinyEncoders) as TinyEncoder[];
const files = new Map<TinyEncoder, Uint8Array<ArrayBuffer>>();
const sequences = randomSequences(TINY_EDGE);
let engine: Engine;
beforeAll(async () => {
  engine = wasmEngine({ simd: await compiledKernels("simd") });
  for (const name of names) files.set(name, await tinyEdgeFile(name));
});
const fileOf = (name: TinyEncoder) => files.get(name) as Uint8Array<ArrayBuffer>;

describe("wasmEngine", () => {
  it.each([
    ["is empty", () => new Uint8Array(), "model_invalid"],
    ["ends before its last tensor does", () => fileOf("bert").slice(0, -1), "model_invalid"],
    ["ends within its header", () => fileOf("bert").slice(0, 100), "model_invalid"],
    ["is something else", () => new Uint8Array(4096).fill(0x7b), "model_invalid"],
    [
      "is of another version",
      () => replaced("bert", `\\"version\\":${PROGRAM_VERSION}`, '\\"version\\":9'),
      "model_version",
    ],
    ["has a wider value", () => replaced("bert", '\\"width\\":32', '\\"width\\":48'), "model_invalid"],
    ["has a larger vocabulary", () => replaced("bert", '\\"vocabulary\\":50', '\\"vocabulary\\":51'), "model_invalid"],
  ])("loads a valid model after it refused one that %s", async (_, damaged, code) => {
    await expect(engine.load(oneModel(damaged()))).rejects.toMatchObject({ code, hint: expect.any(String) });
    const session = await engine.load(oneModel(fileOf("bert")));
    expect(await session.run(sequences)).toHaveLength(sequences.length);
  });

  it("loads a smaller model after it refused one that does not fit into memory", async () => {
    const source = { ...oneModel(fileOf("bert")), size: () => 2 ** 33 };
    await expect(engine.load(source)).rejects.toMatchObject({
      code: "memory_full",
      message: expect.stringContaining("8193 MiB"),
    });
    expect(await (await engine.load(oneModel(fileOf("bert")))).run(sequences)).toHaveLength(sequences.length);
  });

  it("throws the error of reading when reading fails", async () => {
    const source = { ...oneModel(fileOf("bert")), readInto: () => Promise.reject(new Error("the network is gone")) };
    await expect(engine.load(source)).rejects.toThrow("the network is gone");
  });
});

/** Replaces `text` in the header by the text `by`, which has the same length. @returns a copy of the model file */
function replaced(name: TinyEncoder, text: string, by: string): Uint8Array<ArrayBuffer> {
  const file = Buffer.from(fileOf(name));
  const at = file.indexOf(text);
  expect(at).toBeGreaterThan(0);
  file.write(by, at);
  return new Uint8Array(file);
}
