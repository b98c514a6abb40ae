import { expect, it } from "vitest";
import { sampleManifest } from "#test/fixtures/sample-report.ts";
import { readingOf } from "./reading.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

it("has the keys of the model's folder that were accepted", () => {
  const tokenizer = { side: "right", encode: () => ({ ids: [] }) } as unknown as Tokenizer;
  expect(readingOf(sampleManifest, tokenizer)).not.toHaveProperty("accepted_keys");
  const manifest = { ...sampleManifest, acceptedKeys: ["1_Pooling.mood"] };
  expect(readingOf(manifest, tokenizer)).toMatchObject({ accepted_keys: ["1_Pooling.mood"] });
});
