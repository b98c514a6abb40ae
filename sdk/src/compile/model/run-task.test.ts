import { expect, it } from "vitest";
import type { TokenIds, TokenSequence } from "../../runtime/engine/engine.ts";
import { inputsOf, runInParts } from "./run-task.ts";

const texts = ["a", "b", "c", "d"];

it("are texts for most tasks", () => {
  expect(inputsOf({ task: "tag", labels: ["O"] }, texts)).toEqual(texts);
  expect(inputsOf({ task: "classify", labels: ["yes"], input: "text" }, texts)).toEqual(texts);
});

it("are pairs of a text and the next one for question answering and cross-encoders", () => {
  const pairs = [
    ["a", "b"],
    ["b", "c"],
    ["c", "d"],
    ["d", "a"],
  ];
  expect(inputsOf({ task: "answer" }, texts)).toEqual(pairs);
  expect(inputsOf({ task: "classify", labels: ["yes"], input: "pair" }, texts)).toEqual(pairs);
  expect(inputsOf({ task: "answer" }, texts, 2)).toEqual([pairs[0], pairs[2]]);
});

/** A session that returns the length of each sequence, and counts the sequences of each call. */
function counting() {
  const calls: number[] = [];
  return {
    calls,
    session: {
      async run(sequences: readonly TokenSequence[]) {
        calls.push(sequences.length);
        return sequences.map((sequence) => Float32Array.of((sequence as TokenIds).length));
      },
    },
  };
}

const sequences = Array.from({ length: 40 }, (_, i) => new Int32Array(i + 1));

it("runs all sequences in order and reports the finished share", async () => {
  const { session, calls } = counting();
  const shares: number[] = [];
  const results = await runInParts(session, { progress: (share) => shares.push(share) }).run(sequences);
  expect(results.map(([length]) => length)).toEqual(sequences.map(({ length }) => length));
  expect(calls).toEqual([16, 16, 8]);
  expect(shares).toEqual([0, 0.4, 0.8, 1]);
});

it("runs few sequences at once, and reports nothing", async () => {
  const { session, calls } = counting();
  const shares: number[] = [];
  await runInParts(session, { progress: (share) => shares.push(share) }).run(sequences.slice(0, 16));
  expect({ calls, shares }).toEqual({ calls: [16], shares: [] });
});

it("stops between two parts when the signal aborts", async () => {
  const { session, calls } = counting();
  const abort = new AbortController();
  const progress = (share: number) => share > 0 && abort.abort();
  const work = runInParts(session, { signal: abort.signal, progress }).run(sequences);
  await expect(work).rejects.toMatchObject({ code: "aborted" });
  expect(calls).toEqual([16, 16]);
});
