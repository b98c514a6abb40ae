import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { fieldsTable } from "./fields-table.ts";

it("docs/dialects.md has the fields of the routes' schemas", async () => {
  const page = await readFile("docs/dialects.md", "utf8");
  const written = page.replace(/\| route +\| obeyed(.*\n)+?(?=\n)/, `${fieldsTable()}\n`);
  expect(written).toContain(fieldsTable());
  await expect(written).toMatchFileSnapshot("../../docs/dialects.md");
});
