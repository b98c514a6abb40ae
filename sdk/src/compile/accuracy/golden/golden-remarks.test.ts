import { describe, expect, it } from "vitest";
import { sampleManifest } from "#test/fixtures/sample-report.ts";
import type { Manifest } from "../../../artifact/manifest.ts";
import { goldenGaps } from "./golden-remarks.ts";
import type { GoldenLine } from "./read-golden.ts";

const role = { length: 16 };
const colbert = {
  ...sampleManifest,
  task: "token-vectors",
  protocol: { query: role, document: { ...role, skipped: [] } },
} as Manifest;
const line = (side?: GoldenLine["side"]): GoldenLine => ({
  ...{ line: 1, input: "to be", side },
  expected: { kind: "label", label: "" },
});
const gapsOf = (lines: readonly GoldenLine[], manifest: Manifest) =>
  goldenGaps("golden.jsonl", lines, manifest, () => true);

describe("goldenGaps", () => {
  it("names the sides that no line has, for models that read queries and documents differently", () => {
    expect(gapsOf([line()], colbert)).toEqual({
      prompts: "golden.jsonl has no line with the side query, the side document.",
    });
    expect(gapsOf([line("query"), line("document")], colbert)).toEqual({});
    expect(gapsOf([line()], { ...colbert, protocol: undefined } as Manifest)).toEqual({});
  });

  it("asks classifiers for no prompts, of which they have only the default one", () => {
    const classifier = {
      ...sampleManifest,
      task: "classify",
      labels: ["a"],
      input: "text",
      prompts: { a: "b" },
    } as Manifest;
    expect(gapsOf([line()], classifier)).toEqual({});
  });
});
