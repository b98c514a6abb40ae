import { expect, it } from "vitest";
import type { Task } from "../../artifact/manifest.ts";
import { assertPrompts } from "./assert-prompts.ts";

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
