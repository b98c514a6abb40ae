import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { arrange, type Lifetime } from "./arena.ts";
import { aligned } from "./memory-map.ts";

const CACHE_LINE = 64;

const lifetime = fc
  .record({ bytes: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.constantFrom(64, 128)), a: fc.nat(12), b: fc.nat(12) })
  .map(({ bytes, a, b }): Lifetime => ({ bytes, first: Math.min(a, b), last: Math.max(a, b) }));
const lifetimes = fc.array(lifetime, { maxLength: 20 });

const meet = (a: Lifetime, b: Lifetime): boolean => a.first <= b.last && b.first <= a.last;

describe("arrange", () => {
  it("shares no byte between lifetimes in use at the same time, aligns them to cache lines and returns the total size", () => {
    fc.assert(
      fc.property(lifetimes, (all) => {
        const { offsets, bytes } = arrange(all);
        const ends = all.map((own, i) => (offsets[i] as number) + own.bytes);
        expect(bytes).toBe(aligned(Math.max(0, ...ends)));
        all.forEach((own, i) => {
          expect((offsets[i] as number) % CACHE_LINE).toBe(0);
          all.slice(0, i).forEach((other, j) => {
            const isApart =
              (ends[i] as number) <= (offsets[j] as number) || (ends[j] as number) <= (offsets[i] as number);
            expect(isApart || !meet(own, other)).toBe(true);
          });
        });
      }),
      seeded(500),
    );
  });

  it("needs only the bytes of the largest lifetime when no two are in use at the same time", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 9 }), (sizes) => {
        const { bytes } = arrange(sizes.map((size, step) => ({ bytes: size, first: step, last: step })));
        expect(bytes).toBe(aligned(Math.max(...sizes)));
      }),
      seeded(200),
    );
  });

  it("needs at most the sum of all lifetimes, and at least the sum of those in use at any step", () => {
    fc.assert(
      fc.property(lifetimes, (all) => {
        const { bytes } = arrange(all);
        const sum = (some: readonly Lifetime[]) => some.reduce((total, own) => total + aligned(own.bytes), 0);
        expect(bytes).toBeLessThanOrEqual(sum(all));
        for (let step = 0; step <= 12; step++) {
          const needed = sum(all.filter(({ first, last }) => first <= step && step <= last));
          expect(bytes).toBeGreaterThanOrEqual(needed);
        }
      }),
      seeded(300),
    );
  });
});
