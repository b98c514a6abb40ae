import { beforeAll, describe, expect, it } from "vitest";
import { edgeFile } from "#test/fixtures/edge-file.ts";
import { fusedGraph } from "#test/fixtures/fused-graph.ts";
import { tinyBert } from "#test/fixtures/tiny-bert.ts";
import { randomSequences } from "#test/fixtures/tiny-edge-file.ts";
import { compiledKernels } from "#test/suites/kernels/builds.ts";
import { sentenceVector } from "../../../tasks/sentence-vector.ts";
import { type EngineSession, oneModel, type TokenIds } from "../../engine.ts";
import { MODEL } from "../constants/memory.ts";
import { wasmEngine } from "../index.ts";
import { readModelFile } from "../load/model-file.ts";
import { parseProgram } from "../load/parse-program.ts";
import type { CheckedProgram } from "./checked-program.ts";
import { instantiate } from "./kernels.ts";
import { pagesFor } from "./memory-map.ts";
import { createSession } from "./session.ts";
import type { ProgramValue } from "./values.ts";

/** Length of the longest sequence. A new session does not have enough memory for this sequence and must grow. */
const MAX_TOKENS = 600;
const VOCABULARY = 50;
/** The kernels add at most nine hidden states, which are below 8, in float32; `sentenceVector` adds in float64. */
const POOLING_TOLERANCE = 2e-6;

let bytes: Uint8Array<ArrayBuffer>;
let simd: WebAssembly.Module;
beforeAll(async () => {
  const { config, weights } = tinyBert({ config: { max_position_embeddings: MAX_TOKENS } });
  bytes = await edgeFile(await fusedGraph(config, weights), { maxTokens: MAX_TOKENS, vocabulary: VOCABULARY });
  simd = await compiledKernels("simd");
});

const short = randomSequences({ maxTokens: 9, vocabulary: VOCABULARY });
const ids = (length: number, id = 7): TokenIds => new Int32Array(length).fill(id);
const load = () => wasmEngine({ simd }).load(oneModel(bytes));

/**
 * Expects that a session refuses `sequences`. Afterwards the session must give the same results as a new session, and
 * its memory must not have grown.
 */
async function expectUnharmed(session: EngineSession, sequences: readonly TokenIds[], error: object): Promise<void> {
  const wanted = await (await load()).run(short);
  const before = session.memoryBytes();
  expect(before).toBeGreaterThan(bytes.length);
  for (let time = 0; time < 3; time++) {
    await expect(session.run(sequences)).rejects.toMatchObject(error);
    expect(await session.run(short)).toEqual(wanted);
  }
  expect(session.memoryBytes()).toBe(before);
}

describe("a session that refuses a request stays as it was", () => {
  it.each([
    ["is longer than the model's positions", ids(MAX_TOKENS + 1), `has ${MAX_TOKENS + 1} tokens`],
    ["is empty", ids(0), "has 0 tokens"],
    ["has a negative id", ids(3, -1), `vocabulary of ${VOCABULARY}`],
    ["has the first id beyond the vocabulary", ids(3, VOCABULARY), `vocabulary of ${VOCABULARY}`],
    ["has the largest id of an Int32Array", ids(3, 2 ** 31 - 1), `vocabulary of ${VOCABULARY}`],
  ])("when a sequence %s", async (_, sequence, message) => {
    const error = { code: "input_invalid", message: expect.stringMatching(`^Sequence 1 .*${message}`) };
    await expectUnharmed(await load(), [ids(3), sequence, ids(3)], error);
  });

  it("when there is no memory for a longer text", async () => {
    const end = MODEL + bytes.length;
    const { session: roomy, memory: enough } = open(end, 2 ** 16);
    const { session } = open(end, enough.buffer.byteLength / 2 ** 16);
    await expectUnharmed(session, [ids(MAX_TOKENS)], { code: "memory_full", hint: expect.any(String) });
    expect(await roomy.run([ids(MAX_TOKENS)])).toHaveLength(1);
  });
});

it("a session refuses to pool an output if its width is no multiple of four, as the pooling kernels need", async () => {
  let width = 0;
  const { session } = open(MODEL + bytes.length, 2 ** 16, ({ values, output, ...program }) => {
    const value = values[output] as ProgramValue;
    width = value.width + 1;
    return { ...program, output, values: values.with(output, { ...value, width }) };
  });
  await expect(session.run(short, { pooling: "mean", normalize: true })).rejects.toMatchObject({
    code: "model_invalid",
    message: `The model's output is ${width} numbers wide and cannot be pooled.`,
  });
});

describe.each(["mean", "cls", "max", "last"] as const)("a session's %s pooling", (pooling) => {
  it.each([false, true])("returns the sentenceVector of its hidden states, normalize %s", async (normalize) => {
    const session = await load();
    const vectors = await session.run(short, { pooling, normalize });
    const width = vectors[0]?.length ?? 0;
    for (const [i, hiddenStates] of (await session.run(short)).entries()) {
      const wanted = sentenceVector(hiddenStates, width, { pooling, normalize });
      const errors = wanted.map((value, at) => Math.abs(value - ((vectors[i] as Float32Array)[at] as number)));
      expect(Math.max(...errors)).toBeLessThan(POOLING_TOLERANCE);
    }
  });
});

it("a session pools from the token on that a sequence names", async () => {
  const session = await load();
  const head = { pooling: "mean", normalize: true } as const;
  const [text = ids(1)] = short;
  const [hiddenStates = new Float32Array()] = await session.run([text]);
  const width = hiddenStates.length / text.length;
  for (let pooledFrom = 0; pooledFrom < text.length; pooledFrom++) {
    const [vector] = await session.run([{ ids: text, pooledFrom }], head);
    const wanted = sentenceVector(hiddenStates.subarray(pooledFrom * width), width, head);
    const errors = wanted.map((value, at) => Math.abs(value - ((vector as Float32Array)[at] as number)));
    expect(Math.max(...errors)).toBeLessThan(POOLING_TOLERANCE);
  }
});

describe("tokens that no token attends to", () => {
  const attended = 5;
  const text = Int32Array.of(1, 2, 3, 4, 5);
  const expanded = (length: number) => {
    const filled = ids(length, 9);
    filled.set(text);
    return { ids: filled, attended };
  };

  it.each([6, 9, 10, 14, 200])("do not change the others, in a sequence of %i tokens", async (length) => {
    const session = await load();
    const [alone = new Float32Array()] = await session.run([text]);
    const [found = new Float32Array(), next] = await session.run([expanded(length), text]);
    expect(found.length).toBe((alone.length / attended) * length);
    expect(found.slice(0, alone.length)).toEqual(alone);
    expect(next).toEqual(alone);
  });

  it("are computed like the others: by their position and what they attend to", async () => {
    const session = await load();
    const [long = new Float32Array()] = await session.run([expanded(14)]);
    for (const length of [6, 8, 13]) {
      const [found = new Float32Array()] = await session.run([expanded(length)]);
      expect(found).toEqual(long.slice(0, found.length));
    }
  });
});

it.each([{ attended: 0 }, { attended: 4 }, { attended: 1.5 }, { pooledFrom: 3 }, { pooledFrom: -1 }])(
  "a session refuses a sequence of three tokens with %j",
  async (marks) => {
    await expect((await load()).run([{ ids: ids(3), ...marks }])).rejects.toMatchObject({ code: "input_invalid" });
  },
);

it("a session grows once for its longest text", async () => {
  const session = await load();
  const atFirst = session.memoryBytes() ?? 0;
  await session.run([ids(MAX_TOKENS)]);
  const grown = session.memoryBytes() ?? 0;
  expect(grown).toBeGreaterThan(atFirst);
  await session.run([ids(MAX_TOKENS), ids(MAX_TOKENS)]);
  expect(session.memoryBytes()).toBe(grown);
  expect(await session.run(short)).toEqual(await (await load()).run(short));
});

const noPages = async () => new Uint8Array();

/** Opens a session in a memory of at most `maximum` pages. `change` may change the checked program. */
function open(end: number, maximum: number, change = (program: CheckedProgram) => program) {
  const memory = new WebAssembly.Memory({ initial: pagesFor(end), maximum });
  new Uint8Array(memory.buffer, MODEL).set(bytes);
  const program = change(parseProgram(readModelFile(new Uint8Array(memory.buffer, MODEL, bytes.length))));
  return { session: createSession(memory, instantiate(simd, memory), program, bytes.length, noPages), memory };
}

describe("a request of several batches", () => {
  it("lets other requests run between its batches, and gives every text the same vector as a request of its own", async () => {
    const session = await load();
    const texts = [1, 2, 3, 4].map((id) => ids(200, id));
    const turns: string[] = [];
    const many = session.run(texts).then((found) => {
      turns.push("many");
      return found;
    });
    const one = session.run([ids(300, 5)]).then((found) => {
      turns.push("one");
      return found;
    });
    const fresh = await load();
    const [found, [alone]] = await Promise.all([many, one]);
    expect(turns).toEqual(["one", "many"]);
    for (const [i, text] of texts.entries()) expect([found[i]]).toEqual(await fresh.run([text]));
    expect([alone]).toEqual(await fresh.run([ids(300, 5)]));
  });
});
