import { describe, expect, it } from "vitest";
import { probeTexts } from "../../accuracy/probe-texts.ts";
import { calibrationTexts } from "./calibration-texts.ts";

const wordsOf = new Intl.Segmenter("und", { granularity: "word" });
const countWords = (line: string) => [...wordsOf.segment(line)].filter(({ isWordLike }) => isWordLike).length;

const shareOf = (lines: readonly string[], fewest: number, most: number) =>
  lines.filter((line) => countWords(line) >= fewest && countWords(line) <= most).length / lines.length;

/** Tolerance of a share: three texts of 64. Measured: 0.002 of all texts, 0.021 of the first 64. */
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
  it("are at least 384, all different without case and punctuation", () => {
    expect(calibrationTexts.length).toBeGreaterThanOrEqual(384);
    const bare = calibrationTexts.map((line) => line.toLowerCase().replace(/[\p{P}\p{S}\s]+/gu, " "));
    expect(new Set(bare).size).toBe(calibrationTexts.length);
  });

  it("contain none of the texts that check the result", () => {
    const probes = new Set(probeTexts);
    expect(calibrationTexts.filter((line) => probes.has(line))).toEqual([]);
  });

  it("are single lines of 3 to 220 words without surrounding spaces", () => {
    const malformed = calibrationTexts.filter((line) => line !== line.trim() || /[\r\n\u2028\u2029]/.test(line));
    expect(malformed).toEqual([]);
    expect(shareOf(calibrationTexts, 3, 220)).toBe(1);
  });

  it.each([
    ["all of them", calibrationTexts],
    ["the first 64", calibrationTexts.slice(0, 64)],
  ])("are short, medium, long and paragraphs at 4 : 4 : 3 : 1, in %s", (_, lines) => {
    expect(Math.abs(shareOf(lines, 3, 12) - 4 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(lines, 13, 35) - 4 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(lines, 36, 90) - 3 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(lines, 120, 220) - 1 / 12)).toBeLessThan(shareTolerance);
  });

  it.each(Object.entries(scripts))("have at least three texts in %s", (_, script) => {
    expect(calibrationTexts.filter((line) => script.test(line)).length).toBeGreaterThanOrEqual(3);
  });

  it("have at least 20 texts in non-Latin scripts", () => {
    const letters = (line: string) => line.match(/\p{L}/gu)?.length ?? 0;
    const latin = (line: string) => line.match(/\p{Script=Latin}/gu)?.length ?? 0;
    const others = calibrationTexts.filter((line) => letters(line) > 0 && latin(line) < letters(line) / 2);
    expect(others.length).toBeGreaterThanOrEqual(20);
  });
});
