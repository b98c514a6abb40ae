import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { fieldsOf } from "#test/docs/fields-table.ts";

interface FieldList {
  readonly source: string;
  readonly route: string;
  readonly fields: readonly string[];
}

const lists = JSON.parse(await readFile("test/clients/client-fields.json", "utf8")) as FieldList[];

it.each(lists)("every field that $source sends to $route is obeyed, refused or known to be without effect", (list) => {
  const known = fieldsOf(list.route);
  expect(list.fields.filter((field) => !known.has(field))).toEqual([]);
});
