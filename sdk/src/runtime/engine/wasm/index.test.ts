import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { refusalOf } from "#test/fixtures/refusal.ts";
import { withHeader } from "#test/fixtures/safetensors-file.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import {
  randomSequences,
  TINY_EDGE,
  type TinyEncoder,
  tinyEdgeFile,
  tinyEncoders,
} from "#test/fixtures/tiny-edge-file.ts";
import { compiled } from "#test/suites/kernels/builds.ts";
import { type Engine, oneModel, type VectorHead } from "../engine.ts";
import { wasmEngine } from "./index.ts";
import { PROGRAM_VERSION } from "./run/program.ts";

const names = Object.keys(tinyEncoders) as TinyEncoder[];
const files = new Map<TinyEncoder, Uint8Array<ArrayBuffer>>();
const head: VectorHead = { pooling: "mean", normalize: true };
const sequences = randomSequences(TINY_EDGE);
let engine: Engine;
beforeAll(async () => {
  engine = wasmEngine({ simd: await compiled("simd") });
  for (const name of names) files.set(name, await tinyEdgeFile(name));
});
const fileOf = (name: TinyEncoder) => files.get(name) as Uint8Array<ArrayBuffer>;

describe("an engine that refuses a model", () => {
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
    ["has other words", () => replaced("bert", '\\"vocabulary\\":50', '\\"vocabulary\\":51'), "model_invalid"],
  ])("because it %s, loads a sound one afterwards", async (_, damaged, code) => {
    await expect(engine.load(oneModel(damaged()))).rejects.toMatchObject({ code, hint: expect.any(String) });
    const session = await engine.load(oneModel(fileOf("bert")));
    expect(await session.run(sequences)).toHaveLength(sequences.length);
  });

  it("because there is no memory for it, loads a smaller one afterwards", async () => {
    const source = { ...oneModel(fileOf("bert")), size: () => 2 ** 33 };
    await expect(engine.load(source)).rejects.toMatchObject({
      code: "memory_full",
      message: expect.stringContaining("8193 MiB"),
    });
    expect(await (await engine.load(oneModel(fileOf("bert")))).run(sequences)).toHaveLength(sequences.length);
  });

  it("because reading fails, fails with what that failed with", async () => {
    const source = { ...oneModel(fileOf("bert")), readInto: () => Promise.reject(new Error("the network is gone")) };
    await expect(engine.load(source)).rejects.toThrow("the network is gone");
  });
});

describe.each(names)("a program of %s with one thing changed", (name) => {
  it("is refused for what is wrong with it, or runs", async () => {
    const sound = programOf(fileOf(name));
    const outcomes = { refused: 0, computed: 0 };
    const change = fc.record({
      path: fc.constantFrom(...places(sound)),
      value: fc.oneof(
        fc.constantFrom(null, "", "x", -1, 0, 0.5, 3, 4, 8, 1e9, 2 ** 31, [], {}, { value: 99 }),
        fc.nat(64),
        fc.constantFrom("token", "sequence", "f32", "i8", "lookup", "attention", "cls", "dense"),
      ),
    });
    await fc.assert(
      fc.asyncProperty(change, async ({ path, value }) => {
        const file = withProgram(fileOf(name), changed(sound, path, value));
        const session = engine.load(oneModel(file));
        const outcome = await refusalOf(session.then(({ run }) => run(sequences, head)));
        // A model of fewer words or positions is one.
        expect(outcome).toMatch(/^(accepted|model_invalid|model_version|input_invalid)$/);
        if (outcome === "accepted") outcomes.computed++;
        else outcomes.refused++;
      }),
      seeded(1000),
    );
    expect(outcomes.refused).toBeGreaterThan(500);
    expect(outcomes.computed).toBeGreaterThan(10);
  });
});

/** The file with other text in its header, of the same length. */
function replaced(name: TinyEncoder, text: string, by: string): Uint8Array<ArrayBuffer> {
  const file = Buffer.from(fileOf(name));
  const at = file.indexOf(text);
  expect(at).toBeGreaterThan(0);
  file.write(by, at);
  return new Uint8Array(file);
}

type Json = null | string | number | boolean | Json[] | { [name: string]: Json };
type Path = readonly (string | number)[];

const headerEnd = (file: Uint8Array<ArrayBuffer>) => 8 + Number(new DataView(file.buffer).getBigUint64(0, true));
const headerOf = (file: Uint8Array<ArrayBuffer>) =>
  JSON.parse(Buffer.from(file.subarray(8, headerEnd(file))).toString()) as { __metadata__: { program: string } };
const programOf = (file: Uint8Array<ArrayBuffer>) => JSON.parse(headerOf(file).__metadata__.program) as Json;

function withProgram(file: Uint8Array<ArrayBuffer>, program: Json): Uint8Array<ArrayBuffer> {
  const header = { ...headerOf(file), __metadata__: { program: JSON.stringify(program) } };
  return withHeader(JSON.stringify(header), file.subarray(headerEnd(file)));
}

/** Where a document's parts are. */
const places = (json: Json, path: Path = []): Path[] =>
  typeof json === "object" && json !== null
    ? [path, ...Object.entries(json).flatMap(([key, value]) => places(value, [...path, key]))]
    : [path];

function changed(json: Json, [key, ...rest]: Path, value: Json): Json {
  if (key === undefined) return value;
  const copy = structuredClone(json) as Record<string | number, Json>;
  copy[key] = changed(copy[key] as Json, rest, value);
  return copy;
}
