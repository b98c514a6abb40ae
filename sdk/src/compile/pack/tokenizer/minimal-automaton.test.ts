import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { longestToken, openAutomaton, START } from "../../../runtime/tokenizer/packed/automaton.ts";
import type { IntegerArray } from "../../../runtime/tokenizer/packed/packed-arrays.ts";
import { type EncodedToken, minimalAutomaton } from "./minimal-automaton.ts";

const VOCABULARY = 1000;
const anyCodes = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 6 });
const anyTokens = fc
  .uniqueArray(anyCodes, { selector: (codes) => codes.join(), maxLength: 60 })
  .map((all) => all.map((codes, id): EncodedToken => ({ codes, id: (id * 7) % VOCABULARY })));

const arraysOf = (tokens: readonly EncodedToken[]): Record<keyof ReturnType<typeof minimalAutomaton>, IntegerArray> => {
  const arrays = Object.entries(minimalAutomaton(tokens)).map(([name, numbers]) => [name, Uint32Array.from(numbers)]);
  return Object.fromEntries(arrays);
};

/**
 * Finds the longest token at the beginning of a text by comparing all tokens. The automaton must find the same token.
 */
const longestOf = (tokens: readonly EncodedToken[], text: readonly number[]) =>
  tokens
    .filter(({ codes }) => codes.length > 0 && codes.every((code, i) => text[i] === code))
    .map(({ codes, id }) => ({ id, end: codes.length }))
    .sort((a, b) => b.end - a.end)[0];

describe("the minimal automaton", () => {
  it("finds the longest token at the beginning of a text, and its id", () => {
    fc.assert(
      fc.property(anyTokens, anyCodes, (tokens, text) => {
        const automaton = openAutomaton(arraysOf(tokens), VOCABULARY);
        expect(longestToken(automaton, START, text, 0, text.length)).toEqual(longestOf(tokens, text));
        for (const { codes } of tokens) {
          expect(longestToken(automaton, START, codes, 0, codes.length)).toEqual(longestOf(tokens, codes));
        }
      }),
      seeded(300),
    );
  });

  it("shares one state between equal endings", () => {
    const endings = [1, 2, 3].flatMap((first) => [[first], [first, 4], [first, 4, 5]]);
    const { accepts, labels } = minimalAutomaton(endings.map((codes, id) => ({ codes, id })));
    expect(accepts).toEqual([0, 1, 1, 1]);
    expect(labels).toEqual([1, 2, 3, 4, 5]);
  });

  it("is refused after damage, or finds only ids below the vocabulary size", () => {
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(anyTokens, fc.nat(), fc.nat(), fc.nat(5), anyCodes, (tokens, list, place, number, text) => {
        const arrays = arraysOf(tokens);
        const names = ["edgeStart", "labels", "targets", "accepts", "ids"] as const;
        const numbers = arrays[names[list % names.length] as (typeof names)[number]];
        if (numbers.length > 0) numbers[place % numbers.length] = number === 5 ? 2 ** 31 : number;
        outcomes.add(
          refusal(() => {
            const found = longestToken(openAutomaton(arrays, VOCABULARY), START, text, 0, text.length);
            expect(found?.id ?? 0).toBeLessThan(VOCABULARY);
          }),
        );
      }),
      seeded(1000),
    );
    expect([...outcomes].sort()).toEqual(["accepted", "tokenizer_invalid"]);
  });
});
