import { describe, expect, it } from "vitest";
import { tokenHeadCases } from "#test/fixtures/classifier-case.ts";
import { headsAmong } from "./task-heads.ts";

describe("headsAmong", () => {
  // The names of "not legacy" heads depend on config.json.
  const known = tokenHeadCases.filter(({ name }) => !name.includes("not legacy"));
  it.each(known.map(({ name, config, tensors, head }) => [name, { config, tensors, head }] as const))(
    "finds the head of %s",
    (_, { config, tensors, head }) => {
      const names = [...tensors.matchAll(/(\S+)=/g)].map(([, name]) => name as string);
      expect(headsAmong(names, String(config["model_type"]))).toContain(head);
    },
  );

  it("tells RoBERTa's heads apart, and finds none in an encoder", () => {
    expect(headsAmong(["classifier.out_proj.weight"], "roberta")).toEqual(["sequence-classification"]);
    expect(headsAmong(["classifier.weight"], "roberta")).toEqual(["token-classification"]);
    expect(headsAmong(["linear.weight"], "bert")).toEqual(["late-interaction"]);
    expect(headsAmong(["embeddings.word_embeddings.weight", "pooler.dense.weight"], "bert")).toEqual([]);
  });
});
