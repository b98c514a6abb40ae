import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import type { Task } from "../../artifact/manifest.ts";
import { assertPlaces, assertPrompts } from "./assert-tokenizer.ts";

const json = { manifest: { kind: "json", json: "tokenizer.json", config: "tokenizer_config.json" } } as const;
const packed = { manifest: { kind: "packed", file: "tokenizer.safetensors" } } as const;

describe("assertPlaces", () => {
  it("refuses taggers and question answering with a tokenizer that has no packed form", () => {
    expect(refusal(() => assertPlaces("folder", json, "tag"))).toBe("checkpoint_unsupported");
    expect(refusal(() => assertPlaces("folder", json, "answer"))).toBe("checkpoint_unsupported");
  });

  it("accepts other tasks and packed tokenizers", () => {
    expect(() => assertPlaces("folder", json, "embed")).not.toThrow();
    expect(() => assertPlaces("folder", packed, "tag")).not.toThrow();
  });
});

const task = (prompts?: Record<string, string>): Task => ({
  ...{ task: "embed", pooling: "mean", normalize: true, dimensions: 4 },
  ...(prompts && { prompts }),
});
/** Has a token for each character, and two special tokens. */
const tokenizer = { encode: (text: string) => ({ ids: new Int32Array(0), tokens: text.length + 2 }) };
const check = (prompts?: Record<string, string>) => () => assertPrompts("model", task(prompts), tokenizer, 8);

it("accepts prompts that leave room for a text", () => {
  expect(check()).not.toThrow();
  expect(check({ query: "12345", passage: "" })).not.toThrow();
});

it("refuses a prompt that fills the text", () => {
  expect(check({ query: "a", passage: "123456" })).toThrow(
    expect.objectContaining({ code: "checkpoint_unsupported", message: expect.stringContaining("the prompt passage") }),
  );
});

it("refuses a prompt of megabytes, also one with few tokens", () => {
  const few = { encode: () => ({ ids: new Int32Array(0), tokens: 2 }) };
  const large = (length: number) => () => assertPrompts("model", task({ query: " ".repeat(length) }), few, 8);
  expect(large(10_000)).not.toThrow();
  expect(large(4_000_000)).toThrow(
    expect.objectContaining({
      code: "checkpoint_unsupported",
      message: "model: the prompt query has 4000000 characters, and at most 10000 are allowed.",
    }),
  );
});
