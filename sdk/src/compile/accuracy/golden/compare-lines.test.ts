import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { agreementOf } from "./compare-lines.ts";

const vector = (...values: number[]) => Float32Array.from(values);
const ofVectors = (theirs: readonly Float32Array<ArrayBuffer>[], ours: readonly Float32Array<ArrayBuffer>[]) =>
  agreementOf({ kind: "vectors", rows: theirs }, { rows: ours });

describe("agreementOf", () => {
  it("is the cosine of vectors of the same length", () => {
    const unit = fc.tuple(fc.double({ min: 0, max: 6.28, noNaN: true }), fc.double({ min: 0, max: 6.28, noNaN: true }));
    fc.assert(
      fc.property(unit, ([a, b]) => {
        const at = (angle: number) => vector(Math.cos(angle), Math.sin(angle));
        expect(ofVectors([at(a)], [at(b)]).agreement).toBeCloseTo(Math.cos(a - b), 5);
      }),
      seeded(100),
    );
  });

  it("falls with the ratio of lengths, and says it", () => {
    expect(ofVectors([vector(0, 2)], [vector(0, 1)])).toEqual({
      agreement: 0.5,
      says: "cosine 1.00000, but the file's vector is 2.00000 times as long",
    });
    expect(ofVectors([vector(0, 1)], [vector(0, 2)]).agreement).toBe(0.5);
    expect(ofVectors([vector(0, 0)], [vector(0, 0)]).agreement).toBe(1);
    expect(ofVectors([vector(0, 0)], [vector(0, 1)]).agreement).toBe(-1);
  });

  it("is the mean over token vectors, whose number must be the same", () => {
    expect(ofVectors([vector(1, 0), vector(1, 0)], [vector(1, 0), vector(0, 1)]).agreement).toBe(0.5);
    expect(ofVectors([vector(1, 0)], [vector(1, 0), vector(0, 1)])).toEqual({
      agreement: -1,
      says: "1 vectors in the file, and 2 here",
    });
  });

  it("compares vectors as wide as a large vocabulary", () => {
    const wide = new Float32Array(250_000).fill(0.5);
    expect(ofVectors([wide], [wide]).agreement).toBeCloseTo(1, 6);
  });

  it("is 1 minus the largest difference of scores, and says which", () => {
    const ours = {
      scores: new Map([
        ["no", 0.25],
        ["yes", 0.75],
      ]),
    };
    expect(
      agreementOf(
        {
          kind: "scores",
          scores: new Map([
            ["yes", 0.5],
            ["no", 0.25],
          ]),
        },
        ours,
      ),
    ).toEqual({
      agreement: 0.75,
      says: 'score of "yes" 0.50000 in the file, and 0.75000 here',
    });
    expect(agreementOf({ kind: "score", score: 0.5 }, { scores: new Map([["relevant", 0.25]]) }).agreement).toBe(0.75);
    expect(agreementOf({ kind: "label", label: "yes" }, ours).agreement).toBe(1);
    expect(agreementOf({ kind: "label", label: "no" }, ours)).toEqual({
      agreement: 0.5,
      says: 'label "no" in the file, and "yes" here',
    });
  });
});
