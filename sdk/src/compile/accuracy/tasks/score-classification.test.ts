import { expect, it } from "vitest";
import { scoreClassification } from "./score-classification.ts";

it("returns the percentage of texts whose largest logit is at the true label", async () => {
  const classify = async (texts: readonly string[]) => texts.map((text) => Float32Array.of(2 - text.length, 0, -9));
  const texts = [
    { text: "a", label: 0 },
    { text: "abc", label: 1 },
    { text: "a", label: 0 },
    { text: "abcd", label: 2 },
  ];
  expect(await scoreClassification(texts, classify)).toBe(75);
});
