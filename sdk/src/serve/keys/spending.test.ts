import fc from "fast-check";
import { expect, it } from "vitest";
import { spending } from "./spending.ts";

it("never admits more than twice the limit in any minute, and always admits a caller at the limit's pace", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.array(fc.integer({ min: 0, max: 3_000 })), (limit, pauses) => {
      let now = 0;
      const spent = spending(() => now);
      const admitted: number[] = [];
      for (const pause of pauses) {
        now += pause;
        const over = spent.over({ requests: limit }, { requests: 1 });
        if (over) {
          expect(over.waitMs).toBeLessThanOrEqual(60_000 / limit);
          continue;
        }
        spent.add({ requests: limit }, { requests: 1 });
        admitted.push(now);
      }
      for (const start of admitted) {
        expect(admitted.filter((at) => at >= start && at < start + 60_000).length).toBeLessThanOrEqual(2 * limit);
      }
      now += 60_000;
      for (let i = 0; i < 5; i++, now += Math.ceil(60_000 / limit)) {
        expect(spent.over({ requests: limit }, { requests: 1 })).toBeUndefined();
        spent.add({ requests: limit }, { requests: 1 });
      }
    }),
    { seed: 19 },
  );
});

it("admits a caller after the wait that it names", () => {
  let now = 5_000;
  const spent = spending(() => now);
  spent.add({ tokens: 100 }, { tokens: 350 });
  const { waitMs } = spent.over({ tokens: 100 }, {}) ?? { waitMs: 0 };
  expect(waitMs).toBeCloseTo(150_000);
  now += waitMs - 10;
  expect(spent.over({ tokens: 100 }, {})).toBeDefined();
  now += 10;
  expect(spent.over({ tokens: 100 }, {})).toBeUndefined();
});
