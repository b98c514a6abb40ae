import { describe, expect, it } from "vitest";
import type { Manifest } from "../../artifact/manifest.ts";
import { cannotInfer, cannotRank } from "./unfit-classifier.ts";
import { entailmentIndex } from "./zero-shot.ts";

const classifier = (input: "text" | "pair", ...labels: string[]) =>
  ({ name: "m", task: "classify", input, labels }) as unknown as Manifest;

describe("the error for a model that cannot rank documents", () => {
  it.each([
    [
      classifier("text", "LABEL_0"),
      /reads single texts, and ranking needs/,
      /^Prepare the model with `bert-edge prepare <model> --input pair`\.$/,
    ],
    [classifier("text", "no", "yes"), /reads single texts/, /--input pair`\.$/],
    [
      classifier("text", "a", "b", "c"),
      /The model m has 3 labels \(a, b, c\): only models with one or two/,
      /--input pair`, then send pairs of texts to \/v1\/classify or \/predict/,
    ],
    [classifier("pair", "a", "b", "c"), /has 3 labels/, /^Send pairs of texts to \/v1\/classify/],
    [
      { name: "m", task: "tag" } as unknown as Manifest,
      /has the task tag, and does not rank/,
      /serve a sentence encoder, or a cross-encoder/,
    ],
  ])("%j", (manifest, message, hint) => {
    const error = cannotRank(manifest);
    expect(error).toMatchObject({
      ...{ code: "task_unsupported", message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    });
  });
});

describe("the error for a model that cannot classify by labels of the request", () => {
  it.each([
    [
      classifier("text", "entailment", "not_entailment"),
      /reads single texts/,
      /^Prepare the model with `bert-edge prepare <model> --input pair`\.$/,
    ],
    [
      classifier("pair", "LABEL_0", "LABEL_1"),
      /no label begins with entail; its labels are LABEL_0, LABEL_1\.$/,
      /labels in id2label of config\.json that say so, or serve/,
    ],
    [classifier("text", "a", "b"), /no label begins with entail/, /--input pair`, or serve a sentence encoder\./],
    [classifier("pair", ..."abcdefghij"), /its labels are a, b, c, d, e, f, g, h and 2 more\.$/, /id2label/],
    [
      { name: "m", task: "sparse" } as unknown as Manifest,
      /has the task sparse, and takes no labels/,
      /serve a sentence encoder, or a model for/,
    ],
  ])("%j", (manifest, message, hint) => {
    const entailment = manifest.task === "classify" ? entailmentIndex(manifest.labels) : undefined;
    expect(cannotInfer(manifest, entailment)).toMatchObject({
      ...{ code: "task_unsupported", message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    });
  });
});
