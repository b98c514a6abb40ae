import { describe, expect, it } from "vitest";
import { probeTexts } from "../../accuracy/probe-texts.ts";
import { calibrationTexts } from "./calibration-texts.ts";

const wordsOf = new Intl.Segmenter("und", { granularity: "word" });
const countWords = (line: string) => [...wordsOf.segment(line)].filter(({ isWordLike }) => isWordLike).length;

const shareOf = (lines: readonly string[], fewest: number, most: number) =>
  lines.filter((line) => countWords(line) >= fewest && countWords(line) <= most).length / lines.length;

/** How far a share may be from the stated one: three lines of 64. Measured: 0.002 of all lines, 0.021 of the first 64. */
const shareTolerance = 0.05;

const scripts = {
  Arabic: /\p{Script=Arabic}/u,
  Cyrillic: /\p{Script=Cyrillic}/u,
  Devanagari: /\p{Script=Devanagari}/u,
  Hangul: /\p{Script=Hangul}/u,
  "Han without kana": /^(?=.*\p{Script=Han})[^\p{Script=Hiragana}\p{Script=Katakana}]*$/u,
  kana: /\p{Script=Hiragana}/u,
};

describe("calibrationLines", () => {
  it("are at least 384, all different once case and punctuation are left out", () => {
    expect(calibrationTexts.length).toBeGreaterThanOrEqual(384);
    const bare = calibrationTexts.map((line) => line.toLowerCase().replace(/[\p{P}\p{S}\s]+/gu, " "));
    expect(new Set(bare).size).toBe(calibrationTexts.length);
  });

  it("repeat none of the texts that the result is checked on", () => {
    const probes = new Set(probeTexts);
    expect(calibrationTexts.filter((line) => probes.has(line))).toEqual([]);
  });

  it("are single lines of 3 to 220 words with nothing around them", () => {
    const malformed = calibrationTexts.filter((line) => line !== line.trim() || /[\r\n\u2028\u2029]/.test(line));
    expect(malformed).toEqual([]);
    expect(shareOf(calibrationTexts, 3, 220)).toBe(1);
  });

  it.each([
    ["the whole", calibrationTexts],
    ["the first 64", calibrationTexts.slice(0, 64)],
  ])("are short, medium, long and paragraphs in %s as 4 : 4 : 3 : 1", (_, lines) => {
    expect(Math.abs(shareOf(lines, 3, 12) - 4 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(lines, 13, 35) - 4 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(lines, 36, 90) - 3 / 12)).toBeLessThan(shareTolerance);
    expect(Math.abs(shareOf(lines, 120, 220) - 1 / 12)).toBeLessThan(shareTolerance);
  });

  it.each(Object.entries(scripts))("have at least three lines in %s", (_, script) => {
    expect(calibrationTexts.filter((line) => script.test(line)).length).toBeGreaterThanOrEqual(3);
  });

  it("are in other scripts than Latin at least 20 times", () => {
    const letters = (line: string) => line.match(/\p{L}/gu)?.length ?? 0;
    const latin = (line: string) => line.match(/\p{Script=Latin}/gu)?.length ?? 0;
    const others = calibrationTexts.filter((line) => letters(line) > 0 && latin(line) < letters(line) / 2);
    expect(others.length).toBeGreaterThanOrEqual(20);
  });
});
