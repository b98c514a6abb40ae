import { describe, expect, it } from "vitest";
import type { Model } from "../../runtime/model.ts";
import type { ModelCall } from "../../runtime/tasks/task-call.ts";
import { encodeInParts, hasParts } from "./encode-in-parts.ts";

/** Text of which three make two parts. */
const long = "x".repeat(32_000);

/** A model whose only token of a text is the text's length. Records which inputs it encodes, and after how many turns. */
function recordingModel() {
  const encoded: number[] = [];
  const callWith = (inputs: readonly string[]): ModelCall<unknown> => ({
    inputs,
    truncate: true,
    encoder: () => (input, index) => {
      encoded.push(index);
      return { sequences: [Int32Array.of(input.length)] };
    },
    decode: () => [],
  });
  return { encoded, callWith };
}
const model = {} as Pick<Model, "tokenizer" | "manifest">;

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

describe("encodeInParts", () => {
  it("keeps the order of the texts", async () => {
    const { encoded, callWith } = recordingModel();
    const texts = Array.from({ length: 5 }, (_, i) => long + "y".repeat(i));
    const { sequences } = await encodeInParts(model, callWith(texts), undefined);
    expect(sequences).toEqual(texts.map(({ length }) => Int32Array.of(length)));
    expect(encoded).toEqual([0, 1, 2, 3, 4]);
  });

  it("encodes a small request at once, without a pause", async () => {
    const { encoded, callWith } = recordingModel();
    const call = encodeInParts(model, callWith(["a", "b"]), undefined);
    expect(encoded).toEqual([0, 1]);
    expect((await call).sequences).toHaveLength(2);
  });

  it("lets other work run between the parts", async () => {
    const { encoded, callWith } = recordingModel();
    const before: number[] = [];
    setImmediate(() => before.push(encoded.length));
    await encodeInParts(model, callWith([long, long, long]), undefined);
    expect([...before, encoded.length]).toEqual([2, 3]);
  });

  it("stops between the parts when the caller has gone", async () => {
    const { encoded, callWith } = recordingModel();
    const caller = new AbortController();
    const call = encodeInParts(model, callWith([long, long, long]), caller.signal);
    caller.abort(new Error("gone"));
    await expect(call).rejects.toThrow("gone");
    expect(encoded).toHaveLength(2);
  });
});
