import fc from "fast-check";
import { type InferenceSession, Tensor } from "onnxruntime-common";
import { describe, expect, it } from "vitest";
import type { TokenIds } from "./engine.ts";
import { type OrtEncoder, ortRun, VECTOR_OUTPUT } from "./ort-run.ts";

const HIDDEN = 3;

interface Call {
  shape: readonly number[];
  ids: number[];
  mask: number[];
  types: number[];
}

/** Returns an encoder whose hidden states are `10 · id + dimension` for attended tokens and NaN for padding. */
function echoEncoder(output = "last_hidden_state", hasTypes = true): OrtEncoder & { calls: Call[] } {
  const calls: Call[] = [];
  const numbers = (tensor: Tensor) => Array.from(tensor.data as BigInt64Array, Number);
  const inputNames = ["input_ids", "attention_mask", ...(hasTypes ? ["token_type_ids"] : [])];
  const session = {
    inputNames,
    outputNames: [output],
    async run(feeds: Record<string, Tensor>) {
      expect(Object.keys(feeds)).toEqual(inputNames);
      const { input_ids, attention_mask, token_type_ids } = feeds as Record<"input_ids" | "attention_mask", Tensor> & {
        token_type_ids?: Tensor;
      };
      const [ids, mask] = [numbers(input_ids), numbers(attention_mask)];
      calls.push({ shape: input_ids.dims, ids, mask, types: token_type_ids ? numbers(token_type_ids) : [] });
      const data = Float32Array.from({ length: ids.length * HIDDEN }, (_, i) => {
        const at = Math.floor(i / HIDDEN);
        return mask[at] ? 10 * (ids[at] as number) + (i % HIDDEN) : Number.NaN;
      });
      return { [output]: new Tensor("float32", data, [...input_ids.dims, HIDDEN]) };
    },
  } as unknown as InferenceSession;
  return { session, Tensor, calls };
}

const sequence = fc
  .array(fc.integer({ min: 0, max: 1_000 }), { minLength: 1, maxLength: 9 })
  .map((ids): TokenIds => Int32Array.from(ids));
const batch = fc.array(sequence, { minLength: 1, maxLength: 6 });
const hiddenStatesOf = (ids: TokenIds) => [...ids].flatMap((id) => [10 * id, 10 * id + 1, 10 * id + 2]);

describe("ortRun", () => {
  it("returns the hidden states of every sequence without padding", async () => {
    await fc.assert(
      fc.asyncProperty(batch, async (sequences) => {
        const found = await ortRun(echoEncoder())(sequences);
        expect(found.map((rows) => [...rows])).toEqual(sequences.map(hiddenStatesOf));
      }),
    );
  });

  it("gives tokens of the second text of a pair the token type 1, and padding the type 0", async () => {
    const encoder = echoEncoder();
    const pair = { ids: Int32Array.of(1, 2, 3), secondFrom: 1 };
    const found = await ortRun(encoder)([pair, Int32Array.of(4, 5, 6, 7), { ids: Int32Array.of(8), secondFrom: 1 }]);
    expect(found.map(({ length }) => length / HIDDEN)).toEqual([3, 4, 1]);
    expect(encoder.calls.map(({ types }) => types)).toEqual([[0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]]);
  });

  it("masks tokens that no token attends to, and returns their rows", async () => {
    const encoder = echoEncoder();
    const [rows] = await ortRun(encoder)([{ ids: Int32Array.of(1, 2, 3), attended: 2 }, Int32Array.of(4, 5, 6, 7)]);
    expect(encoder.calls[0]?.mask).toEqual([1, 1, 0, 0, 1, 1, 1, 1]);
    expect(rows).toHaveLength(3 * HIDDEN);
  });

  it("returns the graph's first output, whatever its name", async () => {
    const [found] = await ortRun(echoEncoder("hidden"))([Int32Array.of(4)]);
    expect([...(found ?? [])]).toEqual(hiddenStatesOf(Int32Array.of(4)));
  });

  it("sends no token types to encoders without that input", async () => {
    const encoder = echoEncoder("last_hidden_state", false);
    expect(await ortRun(encoder)([Int32Array.of(1, 2)])).toEqual([
      Float32Array.from(hiddenStatesOf(Int32Array.of(1, 2))),
    ]);
    expect(encoder.calls).toHaveLength(1);
  });

  it("makes one call, padded on the right and masked", async () => {
    const encoder = echoEncoder();
    await ortRun(encoder)([Int32Array.of(4), Int32Array.of(1, 2, 3)]);
    expect(encoder.calls).toEqual([
      { shape: [2, 3], ids: [4, 0, 0, 1, 2, 3], mask: [1, 0, 0, 1, 1, 1], types: [0, 0, 0, 0, 0, 0] },
    ]);
  });
});

it("asks a graph that pools for vectors alone, and for hidden states alone", async () => {
  const asked: (readonly string[])[] = [];
  const session = {
    inputNames: ["input_ids", "attention_mask"],
    outputNames: ["last_hidden_state", VECTOR_OUTPUT],
    async run({ input_ids }: { input_ids: Tensor }, names: readonly string[]) {
      asked.push(names);
      const [rows = 0, width = 0] = input_ids.dims;
      const dims = names[0] === VECTOR_OUTPUT ? [rows, 2] : [rows, width, 2];
      const data = new Float32Array(dims.reduce((product, size) => product * size, 1)).fill(dims.length);
      return { [names[0] as string]: new Tensor("float32", data, dims) };
    },
  } as unknown as InferenceSession;
  const run = ortRun({ session, Tensor });
  const sequences = [Int32Array.of(7), Int32Array.of(8, 9)];
  const head = { pooling: "mean", normalize: true } as const;
  expect((await run(sequences, head)).map((vector) => [...vector])).toEqual([
    [2, 2],
    [2, 2],
  ]);
  expect((await run(sequences)).map(({ length }) => length)).toEqual([2, 4]);
  expect(asked).toEqual([[VECTOR_OUTPUT], ["last_hidden_state"]]);
  const part = [{ ids: Int32Array.of(8, 9), pooledFrom: 1 }];
  expect((await run(part, { ...head, normalize: false })).map((vector) => [...vector])).toEqual([[3, 3]]);
  expect(asked.at(-1)).toEqual(["last_hidden_state"]);
});

it("keeps the inputs of calls that overlap apart", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const session = {
    inputNames: ["input_ids", "attention_mask"],
    outputNames: ["last_hidden_state"],
    async run({ input_ids }: { input_ids: Tensor }) {
      await promise;
      const data = Float32Array.from(input_ids.data as BigInt64Array, Number);
      return { last_hidden_state: new Tensor("float32", data, [...input_ids.dims, 1]) };
    },
  } as unknown as InferenceSession;
  const run = ortRun({ session, Tensor });
  const calls = [run([Int32Array.of(1, 2, 3)]), run([Int32Array.of(4, 5)])];
  resolve();
  expect((await Promise.all(calls)).map(([rows]) => [...(rows as Float32Array)])).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
  expect([...((await run([Int32Array.of(6)]))[0] as Float32Array)]).toEqual([6]);
});

it("returns one row of logits per sequence for a classifier", async () => {
  const session = {
    inputNames: ["input_ids", "attention_mask"],
    outputNames: ["logits"],
    async run({ input_ids }: { input_ids: Tensor }) {
      const [rows = 0, width = 0] = input_ids.dims;
      const first = (row: number) => Number((input_ids.data as BigInt64Array)[row * width]);
      const logits = Float32Array.from({ length: 2 * rows }, (_, i) => 10 * first(Math.floor(i / 2)) + (i % 2));
      return { logits: new Tensor("float32", logits, [rows, 2]) };
    },
  } as unknown as InferenceSession;
  const sequences = [[7], [8, 1, 1, 1, 1], [9, 1]].map((ids) => Int32Array.from(ids));
  const logits = await ortRun({ session, Tensor })(sequences);
  expect(logits.map((row) => [...row])).toEqual([
    [70, 71],
    [80, 81],
    [90, 91],
  ]);
});
