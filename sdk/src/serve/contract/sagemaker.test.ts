import fc from "fast-check";
import { expect, it } from "vitest";
import { readAttributes, writeAttributes } from "./sagemaker.ts";

const value = fc.oneof(fc.string(), fc.string({ unit: "binary" }));

it("writes at most 1,024 visible ASCII characters, and reads back what fitted", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string({ minLength: 1 }), value), { maxLength: 30 }), (entries) => {
      const unique = [...new Map(entries)];
      const text = writeAttributes(unique);
      expect(text).toMatch(/^[!-~]{0,1024}$/);
      const read = readAttributes(text);
      for (const [name, value] of read) {
        expect(unique.map(([known, given]) => [known.toWellFormed(), given.toWellFormed()])).toContainEqual([
          name,
          value,
        ]);
      }
    }),
    { seed: 18 },
  );
});

it("leaves out attributes that no longer fit, and keeps shorter ones after them", () => {
  const text = writeAttributes([
    ["path", "v1/embed"],
    ["long", "x".repeat(2_000)],
    ["short", "1"],
  ]);
  expect(text).toBe("path=v1%2Fembed&short=1");
});

it("reads any text", () => {
  fc.assert(
    fc.property(fc.option(value, { nil: null }), (text) => {
      expect(readAttributes(text)).toBeInstanceOf(Map);
    }),
    { seed: 18 },
  );
});
