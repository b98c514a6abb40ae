import { expect, it } from "vitest";
import { reportValidator } from "../fixtures/report-schema.ts";

// Reports of `prepare` are validated beside its own tests.
it("refuses reports with other properties or types", async () => {
  const validate = await reportValidator();
  expect(validate({})).toBe(false);
  expect(validate.errors?.map(({ params }) => params.missingProperty)).toContain("fit");
});
