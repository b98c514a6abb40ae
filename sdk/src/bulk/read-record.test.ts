import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { readRecord } from "./read-record.ts";

const encoder = new TextEncoder();
const read = (content: string | Uint8Array) => {
  const bytes = typeof content === "string" ? encoder.encode(content) : content;
  return readRecord({ number: 7, bytes, size: bytes.length + 1 });
};

describe("readRecord", () => {
  it.each([
    ['{"id": "a", "text": "to be"}', { line: 7, id: "a", text: "to be" }],
    ['{"text": "to be", "id": 3, "other": [1]}', { line: 7, id: 3, text: "to be" }],
    ['{"text": "to be"}\r', { line: 7, text: "to be" }],
    ['{"id": null, "text": "to be"}', { line: 7, text: "to be" }],
    ['"to be"', { line: 7, text: "to be" }],
    ['\ufeff{"text": "to be"}', { line: 7, text: "to be" }],
  ])("reads %s", (content, record) => {
    expect(read(content)).toEqual(record);
  });

  it.each(["", "  \t\r"])("finds no record in white space: %j", (content) => {
    expect(read(content)).toBeUndefined();
  });

  it.each([
    ["to be", "The line is not JSON."],
    ['{"text": "to be"} {"text": "or"}', "The line is not JSON."],
    ['["to be"]', "The line is neither a JSON object nor a JSON string."],
    ["null", "The line is neither a JSON object nor a JSON string."],
    ["{}", "There is no `text`."],
    ['{"custom_id": "a", "body": {"input": "to be"}}', "There is no `text`, but there is `body`."],
    ['{"inputs": "to be"}', "There is no `text`, but there is `inputs`."],
    ['{"text": ["to be"]}', "`text` is not a string."],
    ['{"id": 12345678901234567890, "text": "a"}', expect.stringContaining("`id`")],
    ['{"id": 1.5, "text": "a"}', expect.stringContaining("`id`")],
    ['{"id": {}, "text": "a"}', expect.stringContaining("`id`")],
  ])("sets aside %s", (content, reason) => {
    expect(read(content)).toEqual({ line: 7, code: "record_invalid", reason });
  });

  it("keeps the id of a record that is set aside", () => {
    expect(read('{"id": "a", "text": " "}')).toEqual({
      line: 7,
      id: "a",
      code: "input_empty",
      reason: "The text is empty.",
    });
    expect(read('{"id": "a", "text": 1}')).toMatchObject({ id: "a", code: "record_invalid" });
  });

  it("sets aside bytes that are not UTF-8, and lines that are too long", () => {
    expect(read(Uint8Array.of(34, 255, 34))).toMatchObject({ reason: "The line is not UTF-8." });
    expect(readRecord({ number: 7, bytes: undefined, size: 2_000_000 })).toMatchObject({
      reason: expect.stringContaining("longer than"),
    });
  });

  it("returns a record, a reason or nothing for any bytes", () => {
    const structure = fc.constantFrom("{", "}", '"', ":", ",", "[", "text", "id", "\\", "\\u00", "null", " ", "1e9");
    const near = fc.array(structure, { maxLength: 20 }).map((parts) => encoder.encode(parts.join("")));
    const json = fc.json().map((content) => encoder.encode(content));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 40 }), near, json), (bytes) => {
        const record = read(bytes);
        if (!record) expect(new TextDecoder().decode(bytes).trim()).toBe("");
        else if ("code" in record) expect(record.reason).not.toBe("");
        else expect(record.text.trim()).not.toBe("");
      }),
      seeded(2_000),
    );
  });

  it("returns what was written, for any id and text", () => {
    const id = fc.oneof(fc.string({ unit: "binary" }), fc.maxSafeInteger());
    const text = fc.string({ unit: "binary" }).filter((content) => content.trim() !== "");
    fc.assert(
      fc.property(id, text, (id, text) => {
        expect(read(JSON.stringify({ id, text }))).toEqual({ line: 7, id, text });
      }),
      seeded(500),
    );
  });
});
