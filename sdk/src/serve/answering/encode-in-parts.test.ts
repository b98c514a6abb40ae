import { describe, expect, it } from "vitest";
import type { ModelCall } from "../../runtime/tasks/task-call.ts";
import { encodeInParts, hasParts } from "./encode-in-parts.ts";

/** Text of which three make two parts. */
const long = "x".repeat(32_000);

/** A model whose only token of a text is the text's length. Records which inputs it encodes. */
function recordingModel() {
  const calls: [start: number, end: number][] = [];
  return {
    calls,
    encode({ inputs }: ModelCall<unknown>, { start, end } = { start: 0, end: inputs.length }) {
      calls.push([start, end]);
      return inputs.slice(start, end).map(({ length }) => Int32Array.of(length));
    },
  };
}

const callWith = (inputs: readonly string[]): ModelCall<unknown> => ({ inputs, truncate: true, decode: () => [] });

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
  it("keeps the order of the texts, and tells the model where each part begins and ends", async () => {
    const model = recordingModel();
    const texts = Array.from({ length: 5 }, (_, i) => long + "y".repeat(i));
    const tokens = await encodeInParts(model, callWith(texts), undefined);
    expect(tokens).toEqual(texts.map(({ length }) => Int32Array.of(length)));
    expect(model.calls).toEqual([
      [0, 2],
      [2, 4],
      [4, 5],
    ]);
  });

  it("encodes a small request at once, without a pause", async () => {
    const model = recordingModel();
    const tokens = encodeInParts(model, callWith(["a", "b"]), undefined);
    expect(model.calls).toEqual([[0, 2]]);
    expect(await tokens).toHaveLength(2);
  });

  it("lets other work run between the parts", async () => {
    const model = recordingModel();
    let partsBefore: number | undefined;
    setImmediate(() => {
      partsBefore = model.calls.length;
    });
    await encodeInParts(model, callWith([long, long, long]), undefined);
    expect([partsBefore, model.calls.length]).toEqual([1, 2]);
  });

  it("stops between the parts when the caller has gone", async () => {
    const model = recordingModel();
    const caller = new AbortController();
    const tokens = encodeInParts(model, callWith([long, long, long]), caller.signal);
    caller.abort(new Error("gone"));
    await expect(tokens).rejects.toThrow("gone");
    expect(model.calls).toHaveLength(1);
  });
});
