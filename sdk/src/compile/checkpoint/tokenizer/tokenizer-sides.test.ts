import { describe, expect, it } from "vitest";
import { truncationSide } from "./tokenizer-sides.ts";

describe("the end at which texts are cut", () => {
  it.each([
    [{}, {}, "right"],
    [{ truncation: { direction: "Left" } }, {}, "left"],
    [{ truncation: { direction: "Left" } }, { truncation_side: "right" }, "right"],
    [{ truncation: null }, { truncation_side: "left" }, "left"],
  ])("with %j and %j is as in transformers: %s", (json, settings, side) => {
    expect(truncationSide({ json, config: settings })).toBe(side);
  });

  it.each(["middle", null, "Left"])("is refused if it is %j, as transformers does", (side) => {
    expect(() => truncationSide({ json: {}, config: { truncation_side: side } })).toThrow(
      expect.objectContaining({ code: "checkpoint_invalid", hint: expect.stringContaining('"left" or "right"') }),
    );
  });
});
