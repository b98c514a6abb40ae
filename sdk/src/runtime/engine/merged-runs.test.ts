import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inOrder, ofSimilarLength } from "./batching.ts";
import type { EngineSession, TokenIds, VectorHead } from "./engine.ts";
import { mergedRuns } from "./merged-runs.ts";
import { idsOf } from "./token-sequence.ts";

const mean: VectorHead = { pooling: "mean", normalize: true };
const cls: VectorHead = { pooling: "cls", normalize: true };
const text = (...ids: number[]): TokenIds => Int32Array.from(ids);
const nextTurn = () => new Promise<void>((resolve) => setTimeout(resolve));

/** An engine whose results are the ids themselves. It takes a turn of the event loop, and refuses the id 13. */
function echo() {
  const batches: number[][][] = [];
  let running = 0;
  const run: EngineSession["run"] = async (sequences, head) => {
    expect(++running).toBe(1);
    batches.push(sequences.map((sequence) => [...idsOf(sequence)]));
    await nextTurn();
    running--;
    if (sequences.some((sequence) => idsOf(sequence).includes(13))) throw new Error("id 13");
    return sequences.map((sequence) => Float32Array.of(...idsOf(sequence), head?.pooling === "cls" ? 1 : 0));
  };
  return { run, batches };
}

describe("mergedRuns", () => {
  it("starts a call on an idle engine at once, and lets those that come meanwhile share the next batch", async () => {
    const { run, batches } = echo();
    const merged = mergedRuns(run, ofSimilarLength);
    await Promise.all([merged([text(1)], mean), merged([text(2), text(3, 3)], mean), merged([text(4)], mean)]);
    expect(batches).toEqual([[[1]], [[3, 3], [2], [4]]]);
  });

  it("gives calls with another head a batch of their own, the oldest first", async () => {
    const { run, batches } = echo();
    const merged = mergedRuns(run, ofSimilarLength);
    const answers = [merged([text(1)], mean), merged([text(2)], cls), merged([text(3)], mean), merged([text(4)], cls)];
    expect(await Promise.all(answers)).toEqual([1, 2, 3, 4].map((id) => [Float32Array.of(id, id % 2 === 0 ? 1 : 0)]));
    expect(batches).toEqual([[[1]], [[2], [4]], [[3]]]);
  });

  it("returns what separate calls return, whenever they come, and fails only the calls that fail alone", async () => {
    const ids = fc.array(fc.integer({ min: 1, max: 14 }), { minLength: 1, maxLength: 6 });
    const calls = fc.array(
      fc.record({
        texts: fc.array(ids, { maxLength: 5 }),
        head: fc.constantFrom(mean, cls, undefined),
        pause: fc.boolean(),
      }),
      {
        maxLength: 12,
      },
    );
    const limit = fc.integer({ min: 1, max: 20 });
    await fc.assert(
      fc.asyncProperty(calls, limit, async (all, tokens) => {
        const merged = mergedRuns(echo().run, inOrder(tokens));
        const answers: Promise<unknown>[] = [];
        for (const { texts, head, pause } of all) {
          answers.push(
            merged(
              texts.map((one) => text(...one)),
              head,
            ).catch((error: Error) => error.message),
          );
          if (pause) await nextTurn();
        }
        expect(await Promise.all(answers)).toEqual(
          all.map(({ texts, head }) =>
            texts.flat().includes(13) ? "id 13" : texts.map((one) => Float32Array.of(...one, head === cls ? 1 : 0)),
          ),
        );
      }),
      { seed: 18, numRuns: 60 },
    );
  });
});
