import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { table } from "./markdown-table.ts";

/** The comment above each rule: a situation, and what it decides. */
const RULE = /^ {2}\/\/ (.+) \| (.+)$/gm;

it("docs/routing.md has the rules of decide.ts, in their order", async () => {
  const page = await readFile("docs/routing.md", "utf8");
  const source = await readFile("sdk/src/serve/routing/decide.ts", "utf8");
  const rules = Array.from(source.matchAll(RULE), ([, when = "", what = ""]) => [when, what]);
  // One more decides when no other rule does.
  expect(rules).toHaveLength(1 + (source.match(/^ {2}\(f\) =>/gm)?.length ?? 0));
  const written = page.replace(/\| situation(.*\n)+?(?=\n)/, `${table(["situation", "decision"], rules).trimEnd()}\n`);
  await expect(written).toMatchFileSnapshot("../../docs/routing.md");
});
