import { describe, expect, it } from "vitest";
import { againstGolden } from "./compare-golden.ts";

const vectors = [Float32Array.of(1, 0), Float32Array.of(0, 1), Float32Array.of(1, 0)];
const golden = { texts: ["a", "b", "c"], vectors };
const manifest = { normalize: true, pooling: "mean" } as const;
const LIMIT = 0.99;

describe("againstGolden", () => {
  it("accepts the model's own vectors", () => {
    expect(againstGolden(golden, vectors, manifest, LIMIT)).toEqual({ cosine: 1, fault: undefined });
  });

  it.each([
    ["NaN or infinite values", Float32Array.of(Number.NaN, 1)],
    ["NaN or infinite values", Float32Array.of(0, Number.POSITIVE_INFINITY)],
    ["only zeros", Float32Array.of(0, 0)],
    ["3 dimensions instead of 2", Float32Array.of(0, 1, 0)],
    ["0 dimensions instead of 2", undefined],
  ])("finds %s between right vectors", (what, wrong) => {
    const { cosine, fault } = againstGolden(golden, [vectors[0], wrong, vectors[2]], manifest, LIMIT);
    expect(cosine).toBeNaN();
    expect(fault?.what).toBe(`its vector has ${what} for "b"`);
  });

  it("names the text whose vector is the most different", () => {
    const given = [Float32Array.of(1, 0.3), Float32Array.of(1, 1), Float32Array.of(1, 0)];
    const { cosine, fault } = againstGolden(golden, given, manifest, LIMIT);
    expect(cosine).toBeCloseTo(Math.SQRT1_2, 6);
    expect(fault?.what).toMatch(/cosine of 0\.7071 .* for "b"$/);
  });

  it("compares lengths only of models that do not normalize", () => {
    const given = vectors.with(2, Float32Array.of(1.2, 0));
    expect(againstGolden(golden, given, manifest, LIMIT).fault).toBeUndefined();
    const { fault } = againstGolden(golden, given, { ...manifest, normalize: false }, LIMIT);
    expect(fault?.what).toMatch(/1\.2000 times as long .* for "c"$/);
  });
});
