import { describe, expect, it } from "vitest";
import { edgeAgreement, FLOAT32_ROUNDING, float32Agreement } from "./compare-answers.ts";

const expected = [
  { text: "yes no", numbers: [0.75, 0.25], choices: [{ pick: "yes", margin: 0.5 }] },
  { text: "no yes", numbers: [0.5, 0.5], choices: [{ pick: "no", margin: 0.01 }] },
];

describe("float32Agreement", () => {
  it("finds equal answers", () => {
    const near = expected.map((answer) => ({ ...answer, numbers: answer.numbers.map((value) => value + 1e-6) }));
    expect(float32Agreement(expected, near)).toMatchObject({ texts: 2, equal: 2, firstOther: -1 });
    expect(float32Agreement(expected, near).largestDifference).toBeCloseTo(1e-6, 9);
  });

  it.each([
    ["another number", { numbers: [0.5, 0.5 + 2 * FLOAT32_ROUNDING] }],
    ["a number less", { numbers: [0.5] }],
    ["another order", { text: "yes no" }],
    ["another choice", { choices: [{ pick: "yes" }] }],
  ])("finds %s", (_, change) => {
    const found = [expected[0], { ...expected[1], ...change }] as typeof expected;
    expect(float32Agreement(expected, found)).toMatchObject({ equal: 1, firstOther: 1 });
  });

  it("misses answers that are not there", () => {
    expect(float32Agreement(expected, [])).toMatchObject({ texts: 2, equal: 0 });
  });
});

describe("edgeAgreement", () => {
  const turned = expected.map((answer) => ({ ...answer, choices: [{ pick: "maybe" }] }));

  it("counts choices whose margin exceeds the noise", () => {
    const counts = { choices: 2, beyondNoise: 1 };
    expect(edgeAgreement(expected, expected, 0.1)).toEqual({ ...counts, equal: 1, equalOfAll: 2 });
    expect(edgeAgreement(expected, turned, 0.1)).toEqual({ ...counts, equal: 0, equalOfAll: 0 });
  });
});
