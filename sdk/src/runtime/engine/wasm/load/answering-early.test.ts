import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import {
  randomSequences,
  TINY_EDGE,
  type TinyEncoder,
  tinyEdgeFile,
  tinyEncoders,
} from "#test/fixtures/tiny-edge-file.ts";
import { waitFor } from "#test/fixtures/wait-for.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { into } from "../../../../artifact/fill.ts";
import { type Engine, type ModelFiles, oneModel, type TokenIds } from "../../engine.ts";
import { wasmEngine } from "../index.ts";
import { readModelFile } from "./model-file.ts";
import { neededBytes } from "./needed-bytes.ts";
import { parseProgram } from "./parse-program.ts";

type File = Uint8Array<ArrayBuffer>;

const names = Object.keys(tinyEncoders) as TinyEncoder[];
const sequences = randomSequences(TINY_EDGE);
const [first] = sequences as [TokenIds];
const lastToken = Int32Array.of(TINY_EDGE.vocabulary - 1);
const files = new Map<TinyEncoder, File>();
let engine: Engine;
beforeAll(async () => {
  engine = wasmEngine({ simd: await compiledKernels("simd") });
  for (const name of names) files.set(name, await tinyEdgeFile(name));
});
afterEach(() => void vi.useRealTimers());

/** Returns a source that delivers its file slowly: a call of `upTo(count)` delivers the first `count` bytes. */
function slowly(file: File) {
  const end = Promise.withResolvers<void>();
  let sent = 0;
  let destination: Parameters<ModelFiles["readInto"]>[1] = into(new Uint8Array());
  const source: ModelFiles = {
    ...oneModel(file),
    readInto(_, given) {
      destination = given;
      return end.promise;
    },
  };
  const upTo = (count: number) => {
    destination.bytes().set(file.subarray(sent, count), sent);
    sent = count;
    destination.checked?.(count, count);
  };
  return { source, upTo, end };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const fileOf = (name: TinyEncoder) => files.get(name) as File;
const neededOf = (file: File) => {
  const program = parseProgram(readModelFile(file));
  return (sequences: readonly TokenIds[]) =>
    neededBytes(program, Math.max(0, ...sequences.flatMap((ids) => [...ids].map((id) => id + 1))));
};

/** Loads a session that has the whole model except the rows of the token embedding tables. `upTo` delivers these rows. */
async function early(name: TinyEncoder = "bert") {
  const file = fileOf(name);
  const { source, upTo, end } = slowly(file);
  const loading = engine.load(source);
  upTo(neededOf(file)([]));
  return { session: await loading, upTo, end, file, needed: neededOf(file) };
}

describe.each(names)("a %s model that is still loading", (name) => {
  it("needs fewer bytes for frequent tokens, and the whole file for the last token", () => {
    const needed = neededOf(fileOf(name));
    const [none, frequent, rare] = [needed([]), needed([Int32Array.of(0)]), needed([first, lastToken])];
    expect(none).toBeLessThan(frequent);
    expect(frequent).toBeLessThan(rare);
    expect(rare).toBe(fileOf(name).length);
  });

  it("is ready for sequences when the rows of their tokens have arrived", async () => {
    const { session, upTo, file, needed } = await early(name);
    const done: TokenIds[] = [];
    for (const ids of [first, lastToken]) session.ready?.([ids]).then(() => done.push(ids));
    upTo(needed([first]));
    await turn();
    expect(done).toEqual(needed([first]) === file.length ? [first, lastToken] : [first]);
    upTo(file.length);
    await turn();
    expect(done).toEqual([first, lastToken]);
  });

  it("gives the same answers as a loaded model, each as soon as its rows have arrived", async () => {
    const whole = await engine.load(oneModel(fileOf(name)));
    const expected = await Promise.all(sequences.map((ids) => whole.run([ids])));
    const count = fc.array(fc.nat(fileOf(name).length), { maxLength: 4 }).map((some) => some.sort((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(count, async (counts) => {
        const { session, upTo, end, file, needed } = await early(name);
        const answers = new Map<TokenIds, Float32Array[]>();
        for (const ids of sequences) session.run([ids]).then((answer) => answers.set(ids, answer));
        for (const arrived of counts.map((each) => Math.max(each, needed([])))) {
          upTo(arrived);
          await turn();
          expect([...answers.keys()]).toHaveLength(sequences.filter((ids) => needed([ids]) <= arrived).length);
        }
        upTo(file.length);
        end.resolve();
        await session.complete;
        await turn();
        expect(sequences.map((ids) => answers.get(ids))).toEqual(expected);
      }),
      seeded(20),
    );
  });
});

describe("a model whose rest does not arrive", () => {
  it("answers an empty request, and otherwise throws the error of reading", async () => {
    const { session, end } = await early();
    const waiting = session.run([lastToken]);
    end.reject(new Error("the line is dead"));
    await expect(waiting).rejects.toThrow("the line is dead");
    await expect(session.complete).rejects.toThrow("the line is dead");
    await expect(session.run([lastToken])).rejects.toThrow("the line is dead");
    await expect(session.run([])).resolves.toEqual([]);
  });

  it("ends the wait when a transfer stops without an error", async () => {
    const { session } = await early();
    vi.useFakeTimers();
    const waiting = expect(session.run([lastToken])).rejects.toMatchObject({
      code: "model_unavailable",
      hint: expect.any(String),
    });
    await vi.advanceTimersByTimeAsync(30_000);
    await waiting;
  });

  it("refuses invalid sequences without waiting", async () => {
    const { session } = await early();
    const unknown = Int32Array.of(TINY_EDGE.vocabulary);
    await expect(session.run([unknown])).rejects.toMatchObject({ code: "input_invalid" });
  });

  it("ends the wait when it is released", async () => {
    const { session } = await early();
    const waiting = expect(session.run([lastToken])).rejects.toMatchObject({ code: "session_released" });
    await session.release();
    await waiting;
  });

  it("stops its transfer when it is released", async () => {
    const { session, upTo, file } = await early();
    await session.release();
    expect(() => upTo(file.length)).toThrow(expect.objectContaining({ code: "session_released" }));
  });

  it("stops its transfer when its header is refused", async () => {
    const file = Uint8Array.from(fileOf("bert"));
    file.fill(0x20, 8, 40);
    const { source, upTo } = slowly(file);
    const refused = expect(engine.load(source)).rejects.toMatchObject({ code: "model_invalid" });
    expect(() => upTo(file.length - 1)).toThrow(expect.objectContaining({ code: "model_invalid" }));
    await refused;
    expect(() => upTo(file.length)).toThrow(expect.objectContaining({ code: "model_invalid" }));
  });
});

it("pauses its transfer after an answer", async () => {
  const file = fileOf("bert");
  let pause: Promise<void> | undefined;
  const session = await engine.load({
    ...oneModel(file),
    async readInto(_, { bytes, checked, turn }) {
      bytes().set(file);
      checked?.(neededOf(file)([first]), file.length);
      expect(turn?.()).toBeUndefined();
      await waitFor(() => {
        pause = turn?.();
        expect(pause).toBeDefined();
      });
    },
  });
  await session.run([first]);
  await session.complete;
  expect(pause).toBeInstanceOf(Promise);
});
