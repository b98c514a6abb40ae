import { join } from "node:path";
import { describe, expect, it } from "vitest";
import manifest from "../../sdk/package.json" with { type: "json" };
import { exportedNames, unnamedTypes } from "./declarations.ts";
import publicNames from "./public-names.json" with { type: "json" };

const sdk = join(import.meta.dirname, "../../sdk");

const declarations = Object.entries(manifest.exports).flatMap(([entry, target]) =>
  typeof target === "object" && "types" in target && target.types.startsWith("./dist/")
    ? [[entry.replace(".", "bert-edge"), join(sdk, target.types)] as const]
    : [],
);

describe("the types that functions and classes take and return", () => {
  it.each(declarations)("can all be imported from %s", (_, types) => {
    expect(unnamedTypes(types)).toEqual([]);
  });
});

describe("the names that users can import", () => {
  it("are those of public-names.json", () => {
    const names = Object.fromEntries(declarations.map(([entry, types]) => [entry, exportedNames(types)]));
    expect(names).toEqual(publicNames);
  });
});
