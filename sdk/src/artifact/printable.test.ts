import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { parseJson } from "./parse-json.ts";
import { printable, printableJson } from "./printable.ts";

describe("printable", () => {
  it.each([
    ["\x1b]0;title\x07", "\\x1b]0;title\\x07"],
    ["\x9b2J", "\\x9b2J"],
    ["a\rb\x00\x7f", "a\\x0db\\x00\\x7f"],
    ["tab\tand\nline, é, 模型, 🦊", "tab\tand\nline, é, 模型, 🦊"],
  ])("prints %j as %j", (text, printed) => {
    expect(printable(text)).toBe(printed);
  });
});

describe("printableJson", () => {
  it("keeps the value", () => {
    const text = "\x1b[2J \x9b2J \x7f é";
    const json = printableJson(JSON.stringify(text));
    expect(json).toBe('"\\u001b[2J \\u009b2J \\u007f é"');
    expect(JSON.parse(json)).toBe(text);
  });
});

describe("the message of parseJson", () => {
  it("has no control characters of the document", () => {
    const read = () =>
      parseJson(v.record(v.string(), v.literal("b")), '{"\\u001b[2J":"\\u009b"}', {
        code: "internal",
        what: "file",
        hint: "",
      });
    expect(read).toThrow("\\x1b[2J");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
    expect(read).not.toThrow(/[\x1b\x9b]/);
  });
});
