import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COLUMNS, onScreen, wrapped } from "./on-screen.ts";

const terminal = { isTTY: true, columns: 80 };

describe("onScreen", () => {
  it("has no line that is wider than the terminal, and loses no word", () => {
    const word = fc.stringMatching(/^[\w.,:/-]{1,30}$/);
    const line = fc.array(word, { maxLength: 40 }).map((words) => words.join(" "));
    const text = fc.array(line, { maxLength: 5 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(text, fc.integer({ min: 40, max: 120 }), fc.constantFrom("", "  "), (text, columns, indent) => {
        const shown = onScreen(text, { isTTY: true, columns }, indent);
        for (const each of shown.split("\n")) expect(each.length).toBeLessThanOrEqual(columns);
        expect(shown.split(/\s+/).filter(Boolean)).toEqual(text.split(/\s+/).filter(Boolean));
      }),
    );
  });

  it.each([
    ["a command in backticks", `Run \`npx bert-edge prepare ${"--option ".repeat(12)}\` now.`],
    ["a URL", `Open http://127.0.0.1:8787/${"x".repeat(90)} now.`],
  ])("keeps %s whole, on a line of its own", (_, text) => {
    const [first, ...others] = text.split(" ");
    const whole = others.slice(0, -1).join(" ");
    expect(onScreen(text, terminal)).toBe(`${first}\n  ${whole}\n  now.`);
  });

  it.each([
    ["an indented command", `  curl ${"-H 'a: b' ".repeat(12)}`],
    ["a row of a table", `name  ${"value ".repeat(20)}`],
  ])("leaves %s as it is", (_, text) => {
    expect(onScreen(text, terminal)).toBe(text);
  });

  it("gives logs and other programs whole lines", () => {
    const text = "word ".repeat(40).trim();
    expect(onScreen(text, { isTTY: false, columns: 80 })).toBe(text);
  });

  it("takes 80 columns for a terminal that tells no width", () => {
    const lines = onScreen("word ".repeat(40).trim(), { isTTY: true, columns: 0 }).split("\n");
    expect(Math.max(...lines.map((line) => line.length))).toBe(COLUMNS - 1);
  });

  it("makes control characters visible before it counts columns", () => {
    const [first = ""] = onScreen(`${"\x1b".repeat(10)} ${"word ".repeat(20)}`, terminal).split("\n");
    expect(first).toMatch(/^(\\x1b){10} word/);
    expect(first.length).toBeLessThanOrEqual(80);
  });
});

it.each([
  ["short", 10, 2, ["short"]],
  ["one two three four", 10, 3, ["one two", "  three", "  four"]],
  ["one two three four", 10, 2, ["one two", "  three …"]],
  ["one two three four", 10, 1, ["one two …"]],
  ["one three four", 10, 1, ["one three…"]],
  ["a incomprehensibilities b", 10, 3, ["a", "  incomprehensibilities", "  b"]],
  ["a `b c d e f g` h", 10, 3, ["a", "  `b c d e f g`", "  h"]],
  ["it is ` alone", 10, 3, ["it is `", "  alone"]],
  ["a\n  b", 10, 1, ["a b"]],
])("breaks %j at %d columns into at most %d lines", (text, columns, maxLines, lines) => {
  expect(wrapped(text, columns, maxLines)).toEqual(lines);
});
