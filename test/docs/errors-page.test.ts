import { glob, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { errorCodes } from "#sdk/artifact/error-codes.ts";
import { errorStatus } from "#sdk/serve/contract/errors.ts";
import { errorsPage } from "./errors-page.ts";

describe("docs/errors.md", () => {
  it("is the page that error-codes.ts gives", async () => {
    await expect(errorsPage()).toMatchFileSnapshot("../../docs/errors.md");
  });

  it("has every code of the HTTP contract", () => {
    expect(Object.keys(errorStatus).filter((code) => !(code in errorCodes))).toEqual([]);
  });

  it("has no code that nothing throws", async () => {
    const sources: string[] = [];
    for await (const path of glob("sdk/src/**/*.ts")) {
      if (!path.endsWith(".test.ts") && !path.endsWith("error-codes.ts")) sources.push(await readFile(path, "utf8"));
    }
    const all = sources.join("\n");
    expect(Object.keys(errorCodes).filter((code) => !all.includes(`"${code}"`) && !(code in errorStatus))).toEqual([]);
  });
});
