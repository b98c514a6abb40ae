import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { promptOf } from "./prompt.ts";

const plain = { name: "plain", task: "embed" } as const;
const trained = {
  name: "trained",
  task: "sparse",
  prompts: { query: "query: ", web: "" },
  defaultPrompt: "query",
} as const;

describe("promptOf", () => {
  it("is empty for the prompts of a search that the authors do not name", () => {
    expect([undefined, "query", "document"].map((name) => promptOf(plain, name))).toEqual(["", "", ""]);
    expect([undefined, "query", "document", "web"].map((name) => promptOf(trained, name))).toEqual([
      "query: ",
      "query: ",
      "",
      "",
    ]);
  });

  it.each(["passage", "constructor", ""])("refuses the name %o", (name) => {
    for (const model of [plain, trained]) expect(refusal(() => promptOf(model, name))).toBe("prompt_unknown");
  });

  it("refuses them for late interaction, where a text's side says what it is", () => {
    const ofColbert = { task: "token-vectors", protocol: {} } as const;
    expect(() => promptOf({ ...plain, ...ofColbert }, "query")).toThrow(
      expect.objectContaining({ code: "prompt_unknown", hint: expect.stringContaining("`side`") }),
    );
    expect(promptOf({ ...trained, ...ofColbert }, "query")).toBe("query: ");
    expect(refusal(() => promptOf({ ...plain, task: "classify" }, "query"))).toBe("prompt_unknown");
  });
});
