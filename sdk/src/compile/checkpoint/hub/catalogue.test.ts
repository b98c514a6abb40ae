import { describe, expect, it } from "vitest";
import { families } from "../families/index.ts";
import { catalogue, catalogueModel, catalogueModelOf } from "./catalogue.ts";

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
