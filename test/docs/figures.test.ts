import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { figures } from "#sdk/cli/explanations.ts";

it("docs/http.md explains every figure of a decision that `bert-edge explain` knows", async () => {
  const page = await readFile("docs/http.md", "utf8");
  const [, section = ""] = /### The decision\n(.*?)\n##/s.exec(page) ?? [];
  const named = [...section.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name);
  expect(named.sort()).toEqual([...Object.keys(figures), "pinned", "region-down"].sort());
});
