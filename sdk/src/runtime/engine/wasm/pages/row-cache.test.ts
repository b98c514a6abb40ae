import fc from "fast-check";
import { expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { rowCache } from "./row-cache.ts";

it("keeps the first rows, and the most recently used of the others, each at its own place", () => {
  const [resident, cached] = [3, 4];
  fc.assert(
    fc.property(fc.array(fc.nat(14), { maxLength: 60 }), (rows) => {
      const cache = rowCache(resident, cached);
      /** The cached rows, the least recently used first. */
      let recent: number[] = [];
      const placed = new Map<number, number>();
      for (const row of rows) {
        const found = cache.placeOf(row);
        if (row < resident) expect(found).toBe(row);
        else {
          expect(found).toBe(recent.includes(row) ? placed.get(row) : undefined);
          if (found === undefined) placed.set(row, cache.take(row));
          recent = [...recent.filter((other) => other !== row), row].slice(-cached);
        }
        const places = recent.map((each) => placed.get(each) as number);
        expect(new Set(places).size).toBe(places.length);
        for (const place of places) expect(place >= resident && place < resident + cached).toBe(true);
      }
    }),
    seeded(200),
  );
});
