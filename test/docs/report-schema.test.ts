import { readFile } from "node:fs/promises";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, it } from "vitest";
import { preparable } from "../fixtures/preparable.ts";

const SCHEMA = new URL("../../docs/prepare-report.schema.json", import.meta.url);

async function validator() {
  return new Ajv2020({ allErrors: true }).compile(JSON.parse(await readFile(SCHEMA, "utf8")));
}

it("describes the report that prepare --json prints", async () => {
  const { run } = await preparable();
  const report = JSON.parse(JSON.stringify(await run()));
  const validate = await validator();
  validate(report);
  expect(validate.errors).toBeNull();
});

it("refuses reports with other properties or types", async () => {
  const validate = await validator();
  expect(validate({})).toBe(false);
  expect(validate.errors?.map(({ params }) => params.missingProperty)).toContain("fit");
});
