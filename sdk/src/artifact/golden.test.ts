import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BertEdgeError } from "./error.ts";
import { parseGolden, writeGolden } from "./golden.ts";

const golden = {
  texts: ["Straße 🎉", "", "\ud800"],
  vectors: [Float32Array.of(1, -2), Float32Array.of(0.1, 3e-39), Float32Array.of(5, 6)],
};

describe("parseGolden", () => {
  it("reads what writeGolden has written", () => {
    expect(parseGolden(writeGolden(golden), 2, "tiny")).toEqual(golden);
  });

  it("refuses vectors of another size", () => {
    expect(() => parseGolden(writeGolden(golden), 3, "tiny@1")).toThrow(
      expect.objectContaining({ code: "artifact_corrupt", message: expect.stringContaining("F32[3,3]") }),
    );
  });

  it("reads damaged files without other errors", () => {
    const file = writeGolden(golden);
    fc.assert(
      fc.property(fc.nat(file.length - 1), fc.nat(255), fc.nat(file.length), (at, byte, length) => {
        const damaged = file.slice(0, length);
        if (at < length) damaged[at] = byte;
        try {
          expect(parseGolden(damaged, 2, "tiny").vectors).toHaveLength(golden.texts.length);
        } catch (error) {
          expect(error).toBeInstanceOf(BertEdgeError);
        }
      }),
      { seed: 18, numRuns: 500 },
    );
  });
});
