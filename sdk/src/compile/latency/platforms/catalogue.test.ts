import { describe, expect, it } from "vitest";
import { families } from "../../checkpoint/families/index.ts";
import { catalogue, catalogueModel, catalogueModelOf } from "../../checkpoint/hub/catalogue.ts";
import { estimatedBytes, estimatedFit } from "./fit.ts";

const all = Object.entries(catalogue());

describe("the catalogue", () => {
  it.each(all)("%s is a model that prepare can take", (name, { hub, family, use, pooling, prompts }) => {
    expect(name).toMatch(/^[a-z0-9][a-z0-9.-]*$/);
    expect(hub).toMatch(/^[\w-]+\/[\w.-]+$/);
    expect(Object.keys(families)).toContain(family);
    expect(pooling !== undefined).toBe(use === "embedding");
    for (const prompt of Object.values(prompts ?? {})) expect(prompt).toMatch(/: $/);
  });

  it("has each model once, and all uses", () => {
    expect(new Set(all.map(([, { hub }]) => hub)).size).toBe(all.length);
    expect(new Set(all.map(([, { use }]) => use)).size).toBe(6);
  });

  it("finds models by both names", () => {
    expect(catalogueModel("bge-small-en-v1.5")).toBe(catalogueModelOf("baai/BGE-small-en-v1.5"));
    expect(catalogueModel("toString")).toBeUndefined();
    expect(catalogueModelOf("org/none")).toBeUndefined();
  });
});

describe("estimatedBytes", () => {
  it("is within 5 % of the edge target of all-MiniLM-L6-v2, which has 23.3 MB", () => {
    const bytes = estimatedBytes(catalogueModel("all-minilm-l6-v2") ?? expect.unreachable());
    expect(bytes / 23.3e6).toBeGreaterThan(0.95);
    expect(bytes / 23.3e6).toBeLessThanOrEqual(1);
  });

  it("counts the third matrix of gated layers, and the bits of the table and the layers", () => {
    const shape = { layers: 2, hidden: 10, feedForward: 40, vocabulary: 1_000 };
    expect(estimatedBytes({ shape })).toBe(10_000 + 2 * (400 + 800));
    expect(estimatedBytes({ shape: { ...shape, gated: true } }, 4)).toBe((10_000 * 4.25) / 8 + 2 * (400 + 1_200));
    expect(estimatedBytes({ shape }, 8, 4)).toBe(10_000 + (2 * (400 + 800) * 4.75) / 8);
  });
});

it.each([
  ["all-minilm-l6-v2", "edge"],
  ["bge-base-en-v1.5", "edge, --table int4"],
  ["bge-large-en-v1.5", "region"],
])("%s fits: %s", (name, fit) => {
  expect(estimatedFit(catalogueModel(name) ?? expect.unreachable())).toBe(fit);
});

it("fits a base model with 100,000 tokens in 4 bits, and no larger one", () => {
  const shape = { layers: 12, hidden: 768, feedForward: 3072, vocabulary: 100_000 };
  expect(estimatedFit({ shape })).toBe("edge, --table int4 --weights int4");
  expect(estimatedFit({ shape: { ...shape, vocabulary: 250_000 } })).toBe("region");
});
