import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { together } from "../../runtime/engine/batching.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import { idsOf } from "../../runtime/engine/token-sequence.ts";
import { timeSideBySide } from "./time-targets.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Returns a session that records its calls in `calls`. Call number n takes `ms(tokens, n)` on a simulated clock. */
function session(name: string, calls: string[], ms: (tokens: number, call: number) => number): EngineSession {
  let call = 0;
  return {
    provider: "cpu",
    target: "edge",
    batches: together,
    run: async ([sequence]) => {
      const tokens = sequence ? idsOf(sequence).length : 0;
      calls.push(`${name} ${tokens}`);
      vi.advanceTimersByTime(ms(tokens, call++));
      return [];
    },
    memoryBytes: () => undefined,
    release: async () => {},
  };
}

describe("timeSideBySide", () => {
  it("times every engine at every length in every round, one after the other", async () => {
    const calls: string[] = [];
    const sessions = new Map([
      ["a", session("a", calls, () => 1)],
      ["b", session("b", calls, () => 1)],
    ]);
    const rounds: number[] = [];
    await timeSideBySide(sessions, {
      tokens: [8, 16],
      rounds: 2,
      vocabulary: 50,
      onRound: (round) => rounds.push(round),
    });
    const round = ["a 8", "b 8", "a 16", "b 16"];
    expect(calls).toEqual([...round, ...round, ...round]);
    expect(rounds).toEqual([0, 1, 2]);
  });

  it("returns one time per engine and length", async () => {
    const sessions = new Map([
      ["quick", session("quick", [], (tokens) => tokens / 8)],
      ["slow", session("slow", [], (tokens) => tokens * 2)],
    ]);
    const measured = await timeSideBySide(sessions, { tokens: [8, 16], rounds: 3, vocabulary: 50 });
    expect(Object.fromEntries(measured)).toEqual({
      quick: [
        { tokens: 8, ms: 1 },
        { tokens: 16, ms: 2 },
      ],
      slow: [
        { tokens: 8, ms: 16 },
        { tokens: 16, ms: 32 },
      ],
    });
  });

  it.each([
    ["an odd number of rounds: the middle one", [1000, 5, 900, 3], 5],
    ["an even number of rounds: the mean of the middle two", [1000, 5, 900, 3, 9], 7],
  ])("ignores the first round and returns, for %s", async (_, times, median) => {
    const sessions = new Map([["a", session("a", [], (_, call) => times[call] as number)]]);
    const points = await timeSideBySide(sessions, { tokens: [8], rounds: times.length - 1, vocabulary: 50 });
    expect(points.get("a")).toEqual([{ tokens: 8, ms: median }]);
  });

  it("uses only token ids of the vocabulary", async () => {
    const ids: number[] = [];
    const run: EngineSession["run"] = async ([sequence]) => {
      ids.push(...(sequence ? idsOf(sequence) : []));
      return [];
    };
    const sessions = new Map([["a", { ...session("a", [], () => 1), run }]]);
    await timeSideBySide(sessions, { tokens: [64], rounds: 1, vocabulary: 30 });
    expect(Math.min(...ids)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...ids)).toBeLessThan(30);
    expect(new Set(ids).size).toBeGreaterThan(20);
  });
});
