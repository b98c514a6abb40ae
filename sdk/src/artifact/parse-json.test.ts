import * as v from "valibot";
import { describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "./error.ts";
import { parseJson } from "./parse-json.ts";

const about = { code: "request_invalid", what: "body", hint: "Send a list." } as const;

describe("parseJson", () => {
  it("returns what the schema makes of the JSON", () => {
    const schema = v.object({ size: v.optional(v.number(), 3), name: v.pipe(v.string(), v.trim()) });
    expect(parseJson(schema, '{"name": " a ", "other": 1}', about)).toEqual({ size: 3, name: "a" });
  });

  it.each(["", "{", "{'a': 1}", "undefined", "[1,]"])("refuses %j, which is not JSON", (text) => {
    const check = vi.fn();
    expect(() => parseJson(v.unknown(), text, { ...about, check })).toThrow(
      expect.objectContaining({
        code: "request_invalid",
        message: "The body is not JSON.",
        hint: "Send a list.",
        cause: expect.any(SyntaxError),
      }),
    );
    expect(check).not.toHaveBeenCalled();
  });

  it.each([
    ['{"files": [{"size": 1}, {"size": "2"}]}', 'files.1.size: must be a number, not "2"'],
    ['{"files": [{"size": null}]}', "files.0.size: must be a number, not null"],
    ['{"files": [{"size": 1.5}]}', "files.0.size: must be an integer, not 1.5"],
    ['{"files": [{"size": 0}]}', "files.0.size: must be at least 1, not 0"],
    ['{"files": [{"size": 9}]}', "files.0.size: must be at most 8"],
    ['{"files": [{"size": 1, "kind": "c"}]}', 'files.0.kind: must be "a" or "b", not "c"'],
    ['{"files": {}}', "files: must be a list, not an object"],
    ['{"files": [{}]}', "files.0.size: the field is missing"],
    ["[]", "files: the field is missing"],
    ["7", "its root: must be an object, not 7"],
  ])("names the place of the mistake in %s", (text, message) => {
    const size = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(8, "must be at most 8"));
    const file = v.object({ size, kind: v.optional(v.picklist(["a", "b"])) });
    const schema = v.object({ files: v.array(file) });
    expect(() => parseJson(schema, text, about)).toThrow(
      expect.objectContaining({
        code: "request_invalid",
        message: `The body is not valid at ${message}`,
        hint: "Send a list.",
      }),
    );
  });

  it("stops at the first mistake: a list can have one in every item", () => {
    let read = 0;
    const item = v.custom<string>(() => {
      read++;
      return false;
    }, "is wrong");
    const parse = () => parseJson(v.array(item), JSON.stringify(Array(1_000).fill({})), about);
    expect(parse).toThrow("The body is not valid at 0: is wrong");
    expect(read).toBe(1);
  });

  it("chooses the code by the mistake; text that is not JSON has none", () => {
    const code = vi.fn((issue?: v.BaseIssue<unknown>) => (issue ? "manifest_invalid" : "pointer_invalid"));
    const parse = (text: string) => () => parseJson(v.object({ name: v.string() }), text, { ...about, code });
    expect(parse("{")).toThrow(expect.objectContaining({ code: "pointer_invalid" }));
    expect(parse('{"name": 1}')).toThrow(expect.objectContaining({ code: "manifest_invalid" }));
    expect(code.mock.calls.map(([issue]) => issue && v.getDotPath(issue))).toEqual([undefined, "name"]);
  });

  it("throws the error of `check`, which sees the JSON before the schema", () => {
    const tooOld = new BertEdgeError("model_version", "The version is too old.");
    const check = vi.fn(() => {
      throw tooOld;
    });
    expect(() => parseJson(v.object({ name: v.string() }), '{"format": 1}', { ...about, check })).toThrow(tooOld);
    expect(check).toHaveBeenCalledExactlyOnceWith({ format: 1 });
  });

  it("shortens long names and values, and shows their control characters", () => {
    const key = `\u001b[2J${"k".repeat(1_000)}`;
    const value = `\u009b${"v".repeat(1_000)}`;
    const schema = v.record(v.string(), v.number());
    const parse = () => parseJson(schema, JSON.stringify({ [key]: value }), about);
    expect(parse).toThrow(/^The body is not valid at \\x1b\[2Jk{196}…: must be a number, not "\\x9bv{100,200}…$/);
  });
});
