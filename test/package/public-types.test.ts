import { join } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../sdk/package.json" with { type: "json" };
import { unnamedTypes } from "./declarations.ts";

const sdk = join(import.meta.dirname, "../../sdk");

const declarations = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === "object" && "types" in target ? [[entry.replace(".", "bert-edge"), target.types] as const] : [],
);

describe("the types of public signatures", () => {
  it.each(declarations)("can all be imported from %s", (_, types) => {
    expect(unnamedTypes(join(sdk, types))).toEqual([]);
  });
});
