import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  decodedFloats,
  pipelineCases,
  relativeDifference,
  SCORE_ROUNDING,
  utf16Indices,
} from "#test/fixtures/pipeline-cases.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { aggregationStrategies, entitiesOf, type TaggedText, wordStarts } from "./tag.ts";

const LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"];

/** Returns a text of words with one letter, one token each, whose labels have the given indices. */
function oneLetterWords(tags: readonly number[], pieces: readonly boolean[] = []): TaggedText {
  const logits = tags.flatMap((tag) => LABELS.map((_, label) => (label === tag ? 5 : 0)));
  return {
    text: tags.map(() => "a ").join(""),
    logits: Float32Array.from(logits),
    labels: LABELS,
    offsets: Int32Array.from(tags.flatMap((_, i) => [2 * i, 2 * i + 1])),
    wordIds: tags.map((_, i) => i),
    wordStarts: tags.map((_, i) => !pieces[i]),
    strategy: "simple",
    ignoreLabels: ["O"],
  };
}

const found = (tagged: TaggedText) =>
  entitiesOf(tagged).map(({ label, firstToken, endToken }) => [label, firstToken, endToken]);

describe("entitiesOf", () => {
  describe.each(pipelineCases.tag)(
    "with the logits of $family, $labels",
    ({ labels, unknown_id, has_prefix, texts }) => {
      it.each(texts)("has the entities of transformers' pipeline in $text", ({ text, ids, tokens, ...stored }) => {
        const offsets = Int32Array.from(utf16Indices(text, stored.offsets));
        const spelled = has_prefix ? tokens.map((token) => [...token].length) : undefined;
        const tagged = {
          ...{ text, labels, offsets, wordIds: stored.word_ids, logits: decodedFloats(stored.logits) },
          wordStarts: wordStarts({ text, ids, offsets, unknownId: unknown_id, spelled }),
        };
        for (const { strategy, ignore_labels, results } of stored.answers) {
          const entities = entitiesOf({ ...tagged, strategy, ignoreLabels: ignore_labels });
          const positions = entities.map(({ label, start, end, firstToken }) => [
            ...[label, start, end],
            ...(strategy === "none" ? [firstToken] : []),
          ]);
          expect(positions).toEqual(
            results.map(([label, , start, end, ...token]) => [label, ...utf16Indices(text, [start, end]), ...token]),
          );
          const [scores, expected] = [entities.map(({ score }) => score), results.map(([, score]) => score)];
          expect(relativeDifference(scores, expected)).toBeLessThan(SCORE_ROUNDING);
        }
      });
    },
  );

  it("joins I- to the B- or I- before it, and begins another entity at B-", () => {
    expect(found(oneLetterWords([1, 2, 2, 1, 4, 4, 0, 2]))).toEqual([
      ["PER", 0, 3],
      ["PER", 3, 4],
      ["LOC", 4, 6],
      ["PER", 7, 8],
    ]);
  });

  it("does not join tokens whose labels differ in a prefix that is neither B- nor I-", () => {
    const labels = ["O", "S-ORG", "I-ORG", "E-ORG"];
    const logits = Float32Array.of(0, 5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5);
    expect(found({ ...oneLetterWords([1, 2, 3]), logits, labels })).toEqual([
      ["ORG", 0, 1],
      ["ORG", 1, 2],
      ["ORG", 2, 3],
    ]);
  });

  it("leaves special tokens out, and joins what is around them", () => {
    expect(found({ ...oneLetterWords([1, 2, 2]), wordIds: [0, -1, 1] })).toEqual([["PER", 0, 3]]);
  });

  it("gives all tokens of a word one label, except for none and simple", () => {
    const word = oneLetterWords([1, 4, 4], [false, true, true]);
    expect(found(word)).toEqual([
      ["PER", 0, 1],
      ["LOC", 1, 3],
    ]);
    expect(found({ ...word, strategy: "first" })).toEqual([["PER", 0, 3]]);
    expect(found({ ...word, strategy: "average" })).toEqual([["LOC", 0, 3]]);
    const sure = word.logits.slice();
    sure[1] = 9;
    expect(found({ ...word, logits: sure, strategy: "max" })).toEqual([["PER", 0, 3]]);
  });

  it("returns entities that follow each other, lie in the text and have scores of at most 1", () => {
    const token = fc.record({ tag: fc.integer({ min: 0, max: 4 }), piece: fc.boolean() });
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), fc.constantFrom(...aggregationStrategies), (tokens, strategy) => {
        const tagged = oneLetterWords(
          tokens.map(({ tag }) => tag),
          tokens.map(({ piece }) => piece),
        );
        let previous = 0;
        for (const { start, end, text, score } of entitiesOf({ ...tagged, strategy, ignoreLabels: [] })) {
          expect(start).toBeGreaterThanOrEqual(previous);
          expect(end).toBeGreaterThan(start);
          expect(text).toBe(tagged.text.slice(start, end));
          expect(text).toHaveLength(end - start);
          expect(score).toBeGreaterThan(0);
          expect(score).toBeLessThanOrEqual(1);
          previous = end;
        }
      }),
      seeded(300),
    );
  });
});
