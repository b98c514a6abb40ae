import { describe, expect, it } from "vitest";
import type { Task } from "../../artifact/manifest.ts";
import { longTexts, probeTexts } from "./probe-texts.ts";
import { probesOf } from "./probes.ts";

const EMBED: Task = { task: "embed", pooling: "mean", normalize: true, dimensions: 2 };
/** A tokenizer with one token for a word, and two special tokens. */
const encode = (texts: readonly (string | readonly [string, string])[]) =>
  texts.map((text) => new Int32Array(`${text}`.split(" ").length + 2));
const probes = (maxTokens: number, task: Task = EMBED) =>
  probesOf({ task, maxTokens, config: { vocabularySize: 10 }, encode } as Parameters<typeof probesOf>[0]);

describe("probesOf", () => {
  it("adds texts of 16, 128 and 256 tokens for an encoder", () => {
    const added = probes(512).texts.slice(probeTexts.length);
    const lengths = encode(added).map(({ length }) => length);
    expect(lengths.slice(0, 6)).toEqual([16, 16, 16, 128, 128, 128]);
    // Real tokenizers have more than one token for some words, so that the texts are long enough for them.
    for (const length of lengths.slice(6)) expect(length).toBeGreaterThan(220);
    for (const length of lengths.slice(6)) expect(length).toBeLessThanOrEqual(256);
  });

  it("adds only lengths that the model takes", () => {
    expect(probes(200).texts).toHaveLength(probeTexts.length + 2 * longTexts.length);
    expect(probes(200, { task: "tag", labels: ["a", "b"] }).texts).toEqual(probeTexts);
  });

  it("compares each length apart from the other texts", () => {
    const { texts, compare } = probes(512);
    const reference = texts.map(() => Float32Array.of(1, 0));
    const found = texts.map((_, i) =>
      i >= probeTexts.length + 2 * longTexts.length ? Float32Array.of(0.6, 0.8) : Float32Array.of(1, 0),
    );
    const { meanCosine, minCosine, cases, lengths } = compare(reference, found);
    expect({ meanCosine, minCosine, cases }).toEqual({ meanCosine: 1, minCosine: 1, cases: probeTexts.length });
    expect(lengths?.map(({ tokens }) => tokens)).toEqual([16, 128, 256]);
    expect(lengths?.map(({ meanCosine }) => meanCosine.toFixed(3))).toEqual(["1.000", "1.000", "0.600"]);
  });
});
