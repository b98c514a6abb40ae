import { describe, expect, it } from "vitest";
import { probeTexts } from "../../accuracy/probe-texts.ts";
import { calibrationTexts } from "./calibration-texts.ts";

const wordsOf = new Intl.Segmenter("und", { granularity: "word" });
const countWords = (text: string) => [...wordsOf.segment(text)].filter(({ isWordLike }) => isWordLike).length;

/** Share of the texts that have between `min` and `max` words. */
const shareOf = (texts: readonly string[], min: number, max: number) =>
  texts.filter((text) => countWords(text) >= min && countWords(text) <= max).length / texts.length;

/**
 * Maximum difference between a share and the wanted share. 0.05 is about 3 of 64 texts. Measured: 0.002 for all texts,
 * 0.021 for the first 64.
 */
const shareTolerance = 0.05;

const scripts = {
  Arabic: /\p{Script=Arabic}/u,
  Cyrillic: /\p{Script=Cyrillic}/u,
  Devanagari: /\p{Script=Devanagari}/u,
  Hangul: /\p{Script=Hangul}/u,
  "Han without kana": /^(?=.*\p{Script=Han})[^\p{Script=Hiragana}\p{Script=Katakana}]*$/u,
  kana: /\p{Script=Hiragana}/u,
};

describe("calibrationTexts", () => {
  it("are at least 384 texts that differ in more than case and punctuation", () => {
    expect(calibrationTexts.length).toBeGreaterThanOrEqual(384);
    const bare = calibrationTexts.map((text) => text.toLowerCase().replace(/[\p{P}\p{S}\s]+/gu, " "));
    expect(new Set(bare).size).toBe(calibrationTexts.length);
  });

  it("contain none of the texts that check a quantized model", () => {
    const probes = new Set(probeTexts);
    expect(calibrationTexts.filter((text) => probes.has(text))).toEqual([]);
  });

  it("are single lines of 3 to 220 words without surrounding spaces", () => {
    const malformed = calibrationTexts.filter((text) => text !== text.trim() || /[\r\n\u2028\u2029]/.test(text));
    expect(malformed).toEqual([]);
    expect(shareOf(calibrationTexts, 3, 220)).toBe(1);
  });

  it.each([
    ["all of them", calibrationTexts],
    ["the first 64", calibrationTexts.slice(0, 64)],
  ])("are short, medium, long and very long in the ratio 4 : 4 : 3 : 1, in %s", (_, texts) => {
    expect(Math.abs(shareOf(texts, 3, 12) - 4 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(texts, 13, 35) - 4 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(texts, 36, 90) - 3 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(texts, 120, 220) - 1 / 12)).toBeLessThan(shareTolerance);
  });

  it.each(Object.entries(scripts))("have at least three texts in %s", (_, script) => {
    expect(calibrationTexts.filter((text) => script.test(text)).length).toBeGreaterThanOrEqual(3);
  });

  it("have at least 20 texts in non-Latin scripts", () => {
    const letters = (text: string) => text.match(/\p{L}/gu)?.length ?? 0;
    const latin = (text: string) => text.match(/\p{Script=Latin}/gu)?.length ?? 0;
    const others = calibrationTexts.filter((text) => letters(text) > 0 && latin(text) < letters(text) / 2);
    expect(others.length).toBeGreaterThanOrEqual(20);
  });
});
