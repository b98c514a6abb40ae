import { expect, it } from "vitest";
import { sampleManifest } from "#test/fixtures/sample-report.ts";
import type { Manifest } from "../artifact/manifest.ts";
import { readingOf } from "./reading.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

it("has the keys of the model's folder that were accepted", () => {
  const tokenizer = { side: "right", encode: () => ({ ids: [] }) } as unknown as Tokenizer;
  expect(readingOf(sampleManifest, tokenizer)).not.toHaveProperty("accepted_keys");
  const manifest = { ...sampleManifest, acceptedKeys: ["1_Pooling.mood"] };
  expect(readingOf(manifest, tokenizer)).toMatchObject({ accepted_keys: ["1_Pooling.mood"] });
});

it("has the activation of a cross-encoder's scores, and the label of the score if there are two", () => {
  const pair = { ids: [1, 2], secondFrom: 1 };
  const tokenizer = { side: "right", encode: () => ({ ids: [] }), encodePair: () => pair } as unknown as Tokenizer;
  const readingWith = (task: object) =>
    readingOf({ ...sampleManifest, task: "classify", input: "pair", ...task } as unknown as Manifest, tokenizer);
  const one = readingWith({ labels: ["LABEL_0"], activation: "none" });
  expect(one).toMatchObject({ activation: "none", token_types: true });
  expect(one).not.toHaveProperty("score_label");
  expect(readingWith({ labels: ["Relevant", "other"] })).toMatchObject({
    ...{ activation: "sigmoid", score_label: "Relevant" },
  });
  expect(readingWith({ labels: ["a", "b", "c"] })).not.toHaveProperty("activation");
});
