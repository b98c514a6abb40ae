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
      /reads single texts/,
      /^If it was trained with pairs.* prepare it with --input pair\.$/,
    ],
    [classifier("text", "no", "yes"), /reads single texts/, /prepare it with --input pair\.$/],
    [
      classifier("text", "a", "b", "c"),
      /The model m has 3 labels \(a, b, c\): only models with one or two/,
      /prepare it with --input pair\. Send pairs to \/v1\/classify or \/predict/,
    ],
    [classifier("pair", "a", "b", "c"), /has 3 labels/, /^Send pairs to \/v1\/classify or \/predict/],
    [{ name: "m", task: "tag" } as unknown as Manifest, /has the task tag, which/, /cross-encoder.* --input pair/],
  ])("%j", (manifest, message, hint) => {
    const error = cannotRank(manifest);
    expect(error).toMatchObject({
      ...{ code: "task_unsupported", message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    });
  });
});

describe("the error for a model that cannot classify by labels of the request", () => {
  it.each([
    [classifier("text", "entailment", "not_entailment"), /reads single texts/, /^Prepare it with --input pair\.$/],
    [
      classifier("pair", "LABEL_0", "LABEL_1"),
      /no label begins with entail; its labels are LABEL_0, LABEL_1\.$/,
      /name its labels in id2label of config\.json, and prepare it again\./,
    ],
    [classifier("text", "a", "b"), /no label begins with entail/, /prepare it again with --input pair\./],
    [classifier("pair", ..."abcdefghij"), /its labels are a, b, c, d, e, f, g, h and 2 more\.$/, /id2label/],
    [{ name: "m", task: "sparse" } as unknown as Manifest, /has the task sparse, which/, /natural language inference/],
  ])("%j", (manifest, message, hint) => {
    const entailment = manifest.task === "classify" ? entailmentIndex(manifest.labels) : undefined;
    expect(cannotInfer(manifest, entailment)).toMatchObject({
      ...{ code: "task_unsupported", message: expect.stringMatching(message), hint: expect.stringMatching(hint) },
    });
  });
});
