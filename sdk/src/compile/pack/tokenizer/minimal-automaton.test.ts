import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { longestWord, openAutomaton, START } from "../../../runtime/tokenizer/packed/automaton.ts";
import type { Numbers } from "../../../runtime/tokenizer/packed/packed-header.ts";
import { minimalAutomaton, type Word } from "./minimal-automaton.ts";

const VOCABULARY = 1000;
const anyCodes = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 6 });
const anyWords = fc
  .uniqueArray(anyCodes, { selector: (codes) => codes.join(), maxLength: 60 })
  .map((all) => all.map((codes, id): Word => ({ codes, id: (id * 7) % VOCABULARY })));

const sectionsOf = (words: readonly Word[]): Record<keyof ReturnType<typeof minimalAutomaton>, Numbers> => {
  const arrays = Object.entries(minimalAutomaton(words)).map(([name, numbers]) => [name, Uint32Array.from(numbers)]);
  return Object.fromEntries(arrays);
};

/** The oracle: the longest of all words that a text begins with. */
const longestOf = (words: readonly Word[], text: readonly number[]) =>
  words
    .filter(({ codes }) => codes.length > 0 && codes.every((code, i) => text[i] === code))
    .map(({ codes, id }) => ({ id, end: codes.length }))
    .sort((a, b) => b.end - a.end)[0];

describe("the minimal automaton", () => {
  it("finds the longest word that a text begins with, and its id", () => {
    fc.assert(
      fc.property(anyWords, anyCodes, (words, text) => {
        const automaton = openAutomaton(sectionsOf(words), VOCABULARY);
        expect(longestWord(automaton, START, text, 0, text.length)).toEqual(longestOf(words, text));
        for (const { codes } of words) {
          expect(longestWord(automaton, START, codes, 0, codes.length)).toEqual(longestOf(words, codes));
        }
      }),
      seeded(300),
    );
  });

  it("has one state for all same endings", () => {
    const endings = [1, 2, 3].flatMap((first) => [[first], [first, 4], [first, 4, 5]]);
    const { accepts, labels } = minimalAutomaton(endings.map((codes, id) => ({ codes, id })));
    expect(accepts).toEqual([0, 1, 1, 1]);
    expect(labels).toEqual([1, 2, 3, 4, 5]);
  });

  it("is refused with any number changed, or finds ids of the vocabulary only", () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(anyWords, fc.nat(), fc.nat(), fc.nat(5), anyCodes, (words, list, place, number, text) => {
        const sections = sectionsOf(words);
        const names = ["edgeStart", "labels", "targets", "accepts", "ids"] as const;
        const numbers = sections[names[list % names.length] as (typeof names)[number]];
        if (numbers.length > 0) numbers[place % numbers.length] = number === 5 ? 2 ** 31 : number;
        outcomes.add(
          refusal(() => {
            const found = longestWord(openAutomaton(sections, VOCABULARY), START, text, 0, text.length);
            expect(found?.id ?? 0).toBeLessThan(VOCABULARY);
          }),
        );
      }),
      seeded(1000),
    );
    expect([...outcomes].sort()).toEqual(["accepted", "tokenizer_invalid"]);
  });
});
