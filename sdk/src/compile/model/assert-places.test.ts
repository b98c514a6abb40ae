import { describe, expect, it } from "vitest";
import { refusal } from "#test/fixtures/refusal.ts";
import { assertPlaces } from "./assert-places.ts";

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
