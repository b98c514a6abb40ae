import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { judgeParity } from "./judge-parity.ts";

const none = { maxAbs: 0, ofTolerance: 0, cosine: 1 };
const large = { maxAbs: 0.98, ofTolerance: 9, cosine: 0.9 };

describe("judgeParity", () => {
  it("accepts a difference up to the tolerance, without warnings", () => {
    expect(judgeParity({ ...none, ofTolerance: 1, cases: 5, optimizer: undefined })).toEqual([]);
  });

  it.each([1.01, Number.NaN])("refuses %s of the tolerance", (ofTolerance) => {
    expect(refusal(() => judgeParity({ ...none, ofTolerance, cases: 5, optimizer: undefined }))).toBe(
      "parity_exceeded",
    );
  });

  it.each([
    ["alike", none],
    ["differently", large],
  ])("warns if onnxruntime changes both models %s", (_, served) => {
    const parity = { ...none, cases: 5, optimizer: { original: large, rewritten: large, served } };
    expect(judgeParity(parity)).toEqual([expect.stringMatching(/onnxruntime's own optimizations .*0\.98.*0\.98/)]);
  });

  it("refuses a model that onnxruntime changes, but not its original", () => {
    const parity = { ...none, cases: 5, optimizer: { original: none, rewritten: large, served: large } };
    expect(() => judgeParity(parity)).toThrow(
      expect.objectContaining({
        code: "parity_exceeded",
        message: expect.stringContaining("but not the original's: by up to 0.98"),
        hint: expect.stringContaining("--no-parity"),
      }),
    );
  });
});
