import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { type Arrival, arriving, type TransferCallbacks } from "./arrival.ts";

/** Starts a transfer. The test calls `progress.checked` to report that bytes have arrived. */
function transfer(): { arrival: Arrival; progress: TransferCallbacks; end: PromiseWithResolvers<void> } {
  const end = Promise.withResolvers<void>();
  let progress: TransferCallbacks | undefined;
  const arrival = arriving((given) => {
    progress = given;
    return end.promise;
  });
  return { arrival, progress: progress as unknown as TransferCallbacks, end };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("arriving", () => {
  it("resolves every wait as soon as its bytes have arrived", async () => {
    const counts = fc
      .array(fc.integer({ min: 1, max: 100 }), { maxLength: 8 })
      .map((some) => some.sort((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(counts, fc.array(fc.nat(120)), async (steps, wanted) => {
        const { arrival, progress, end } = transfer();
        const there = new Set<number>();
        for (const bytes of wanted) arrival.reach(bytes).then(() => there.add(bytes));
        for (const count of [0, ...steps]) {
          if (count > 0) progress.checked(count, count);
          await turn();
          expect(there).toEqual(new Set(wanted.filter((bytes) => bytes <= count)));
        }
        end.resolve();
        await arrival.complete;
        await turn();
        expect(there).toEqual(new Set(wanted));
      }),
      seeded(50),
    );
  });

  it("rejects waits for missing bytes with the transfer's error, and no other waits", async () => {
    const { arrival, progress, end } = transfer();
    progress.checked(10, 12);
    const waiting = [arrival.reach(11), arrival.reach(99), arrival.complete].map((each) => each.catch(String));
    end.reject(new Error("the line is dead"));
    expect(await Promise.all(waiting)).toEqual(Array(3).fill("Error: the line is dead"));
    await expect(arrival.reach(11)).rejects.toThrow("the line is dead");
    await expect(arrival.reach(10)).resolves.toBeUndefined();
  });

  it("stops waits at once and the transfer at its next piece, both with the first reason", async () => {
    const { arrival, progress } = transfer();
    const waiting = arrival.reach(1);
    arrival.stop(new Error("no longer needed"));
    arrival.stop(new Error("another"));
    await expect(waiting).rejects.toThrow("no longer needed");
    expect(() => progress.checked(1, 1)).toThrow("no longer needed");
  });

  it("passes on what has arrived before the waits end, and stops everything when that fails", async () => {
    const calls: [number, number][] = [];
    const end = Promise.withResolvers<void>();
    let progress: TransferCallbacks | undefined;
    const arrival = arriving(
      (given) => {
        progress = given;
        return end.promise;
      },
      (count, filled) => {
        if (filled > 30) throw new Error("the header is damaged");
        calls.push([count, filled]);
      },
    );
    const waits = [arrival.reach(10).then(() => calls.length), arrival.reach(20).catch(String)];
    progress?.checked(10, 15);
    expect(await waits[0]).toBe(1);
    expect(() => progress?.checked(20, 31)).toThrow("the header is damaged");
    expect(await waits[1]).toBe("Error: the header is damaged");
    expect(() => progress?.checked(25, 25)).toThrow("the header is damaged");
    expect(calls).toEqual([[10, 15]]);
  });

  it("continues a transfer after a pause", async () => {
    const { arrival, progress } = transfer();
    expect(progress.turn()).toBeUndefined();
    const start = performance.now();
    arrival.pause(30);
    await progress.turn();
    expect(performance.now() - start).toBeGreaterThan(25);
    expect(progress.turn()).toBeUndefined();
  });

  it("pauses at most once per piece", () => {
    const { arrival, progress } = transfer();
    let pauses = 0;
    for (let piece = 1; piece <= 12; piece++) {
      for (let answers = 0; answers < 5; answers++) arrival.pause(1);
      if (progress.turn()) pauses++;
      if (piece % 4 === 0) progress.checked(piece, piece);
    }
    expect(pauses).toBe(3);
  });
});
