import { describe, expect, it } from "vitest";
import { shown } from "./shown.ts";

describe("shown", () => {
  it("writes values as JSON, and missing ones as undefined", () => {
    expect([1, "a", null, { a: [1] }, undefined].map(shown)).toEqual(["1", '"a"', "null", '{"a":[1]}', "undefined"]);
  });

  it("does not call functions of the value", () => {
    expect(shown(JSON.parse('{"toString": 1}'))).toBe('{"toString":1}');
    expect(shown(JSON.parse('[{"toString": null}]'))).toBe('[{"toString":null}]');
  });

  it("cuts long values", () => {
    expect(shown("a".repeat(1_000))).toHaveLength(201);
  });

  it("does not overflow the stack on deeply nested values", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    expect(shown(deep)).toBe("nested too deeply to be shown");
  });
});
