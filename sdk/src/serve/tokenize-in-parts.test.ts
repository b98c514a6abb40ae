import { describe, expect, it } from "vitest";
import { hasParts, tokenizeInParts } from "./tokenize-in-parts.ts";

/** Text of which three make two parts. */
const long = "x".repeat(32_000);

/** A model whose only token of a text is the text's length. Records the calls. */
function recordingModel() {
  const calls: { texts: number; truncate: boolean | undefined; firstIndex: number | undefined }[] = [];
  return {
    calls,
    tokenize(texts: readonly string[], options: { truncate?: boolean; firstIndex?: number } = {}) {
      calls.push({ texts: texts.length, truncate: options.truncate, firstIndex: options.firstIndex });
      return texts.map(({ length }) => Int32Array.of(length));
    },
  };
}

describe("hasParts", () => {
  it.each<[boolean, string, string[]]>([
    [false, "no texts", []],
    [false, "texts of one part", [long, long]],
    [true, "texts beyond one part", [long, long, "x"]],
    [false, "a single text, which is never divided", [long.repeat(3)]],
  ])("is %s for %s", (expected, _, texts) => {
    expect(hasParts(texts)).toBe(expected);
  });
});

describe("tokenizeInParts", () => {
  it("keeps the order of the texts, and tells the model the index of each part's first text", async () => {
    const model = recordingModel();
    const texts = Array.from({ length: 5 }, (_, i) => long + "y".repeat(i));
    const tokens = await tokenizeInParts(model, texts, { truncate: true });
    expect(tokens.map(([length]) => length)).toEqual(texts.map(({ length }) => length));
    expect(model.calls).toEqual([
      { texts: 2, truncate: true, firstIndex: 0 },
      { texts: 2, truncate: true, firstIndex: 2 },
      { texts: 1, truncate: true, firstIndex: 4 },
    ]);
  });

  it("tokenizes a small request at once, without a pause", async () => {
    const model = recordingModel();
    const tokens = tokenizeInParts(model, ["a", "b"], { truncate: false });
    expect(model.calls).toEqual([{ texts: 2, truncate: false, firstIndex: 0 }]);
    expect(await tokens).toHaveLength(2);
  });

  it("lets other work run between the parts", async () => {
    const model = recordingModel();
    let partsBefore: number | undefined;
    setTimeout(() => {
      partsBefore = model.calls.length;
    });
    await tokenizeInParts(model, [long, long, long], { truncate: false });
    expect([partsBefore, model.calls.length]).toEqual([1, 2]);
  });

  it("stops between the parts when the caller has gone", async () => {
    const model = recordingModel();
    const caller = new AbortController();
    const tokens = tokenizeInParts(model, [long, long, long], { truncate: false, signal: caller.signal });
    caller.abort(new Error("gone"));
    await expect(tokens).rejects.toThrow("gone");
    expect(model.calls).toHaveLength(1);
  });
});
