import { expect, it } from "vitest";
import type { EncoderProcess } from "./encoder-process.ts";
import { measure } from "./measure.ts";

const ids = Array.from({ length: 7 }, (_, i) => Int32Array.of(i));
const vectors = ids.map((_, i) => Float32Array.of(Math.cos(i / 10), Math.sin(i / 10)));
const options = { neighbours: 2, rounds: 3, onRound: () => {} };

/** A form that answers with the true vectors, and takes as many seconds as `secondsOf` says. */
function fake(name: string, calls: string[], secondsOf: (call: number) => number): EncoderProcess {
  let call = 0;
  return {
    async embed(texts) {
      calls.push(`${name} ${texts.map(([id]) => id)}`);
      return { seconds: secondsOf(call++), vectors: texts.map(([id]) => vectors[id as number] as Float32Array) };
    },
    stop: async () => {},
  };
}

it("lets the forms take turns on the same parts, and takes the median of their rates", async () => {
  const calls: string[] = [];
  const encoders = new Map([
    ["first", fake("first", calls, (call) => [100, 3, 1, 1][call] as number)],
    ["second", fake("second", calls, () => 0.5)],
  ]);
  const scores = await measure(encoders, { ids, vectors }, options);
  const untimed = ["first 0,1", "second 0,1"];
  const timed = ["first 0,1", "second 0,1", "second 2,3", "first 2,3", "first 4,5,6", "second 4,5,6"];
  expect(calls).toEqual([...untimed, ...timed]);
  const exact = { kept: 1, margin: 0, meanCosine: expect.closeTo(1, 6) };
  expect(scores.get("first")).toEqual({ ...exact, tied: ["second"], textsPerSecond: 2 });
  expect(scores.get("second")).toEqual({ ...exact, tied: ["first"], textsPerSecond: 4 });
});

it("gives a form that fails its error, and measures the others", async () => {
  const calls: string[] = [];
  const error = new Error("Out of memory.");
  const failing: EncoderProcess = { embed: () => Promise.reject(error), stop: async () => {} };
  const encoders = new Map([
    ["failing", failing],
    ["other", fake("other", calls, () => 1)],
  ]);
  const scores = await measure(encoders, { ids, vectors }, options);
  expect(scores.get("failing")).toBe(error);
  expect(scores.get("other")).toMatchObject({ kept: 1 });
});

it("has the mean of the shares, and half of its 95 % interval", async () => {
  // The form swaps the directions of two texts, so that some neighbours are others.
  const swapped: EncoderProcess = {
    embed: async (texts) => ({
      seconds: 1,
      vectors: texts.map(([id]) => vectors[[5, 1, 2, 3, 4, 0, 6][id as number] as number] as Float32Array),
    }),
    stop: async () => {},
  };
  const encoders = new Map([
    ["swapped", swapped],
    ["exact", fake("exact", [], () => 1)],
  ]);
  const scores = await measure(encoders, { ids, vectors }, options);
  const score = scores.get("swapped");
  // Kept of two: text 0 none of 1,2; 1 one of 0,2 (2,5); 2 two of 1,3; 3 two of 2,4; 4 one of 3,5 (3,0); 5 none; 6 one of 5,4 (0,4).
  const shares = [0, 0.5, 1, 1, 0.5, 0, 0.5];
  const mean = 3.5 / 7;
  const deviation = Math.sqrt(shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / 6);
  expect(score).toMatchObject({ kept: mean, margin: expect.closeTo((1.96 * deviation) / Math.sqrt(7), 12) });
  // The differences to the exact form have the same deviation, and their mean is more than half of the interval.
  expect(1 - mean).toBeGreaterThan((1.96 * deviation) / Math.sqrt(7));
  expect(score).toMatchObject({ tied: [] });
  expect(scores.get("exact")).toMatchObject({ tied: [] });
});
