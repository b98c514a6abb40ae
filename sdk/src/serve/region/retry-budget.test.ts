import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newRetryBudget } from "./regions.ts";

describe("newRetryBudget", () => {
  it("allows three extra requests at once, and then one for every 20 answers", () => {
    const load = newRetryBudget();
    expect([load.take(), load.take(), load.take(), load.take()]).toEqual([true, true, true, false]);
    for (let answer = 0; answer < 19; answer++) load.answered();
    expect(load.take()).toBe(false);
    // Sums of 1/20 are not exact, so one answer more may be needed.
    for (let answer = 0; answer < 2; answer++) load.answered();
    expect([load.take(), load.take()]).toEqual([true, false]);
  });

  it("does not save more than three extra requests", () => {
    const load = newRetryBudget();
    for (let answer = 0; answer < 10_000; answer++) load.answered();
    expect([load.take(), load.take(), load.take(), load.take()]).toEqual([true, true, true, false]);
  });

  it("never allows more than 5 % of the answers and three", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 2_000 }), (events) => {
        const load = newRetryBudget();
        let [answers, extra] = [0, 0];
        for (const isAnswer of events) {
          if (isAnswer) {
            load.answered();
            answers++;
          } else if (load.take()) extra++;
          expect(extra).toBeLessThanOrEqual(3 + answers / 20);
        }
      }),
    );
  });
});
