import { expect, it } from "vitest";
import { wrapped } from "./wrapped.ts";

it.each([
  ["short", 10, 2, ["short"]],
  ["one two three four", 10, 3, ["one two", "  three", "  four"]],
  ["one two three four", 10, 2, ["one two", "  three …"]],
  ["one two three four", 10, 1, ["one two …"]],
  ["incomprehensibilities", 10, 1, ["incompreh…"]],
  ["a incomprehensibilities b", 10, 3, ["a", "  incompr…", "  b"]],
  ["a\n  b", 10, 1, ["a b"]],
])("breaks %j at %d columns into at most %d lines", (text, columns, maxLines, lines) => {
  expect(wrapped(text, columns, maxLines)).toEqual(lines);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
});
