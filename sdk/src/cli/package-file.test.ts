import { expect, it } from "vitest";
import { packageFile } from "./package-file.ts";

it("finds a file of a package, and names a package that is not installed", () => {
  expect(packageFile(process.cwd(), "wrangler", "bin/wrangler.js")).toMatch(/wrangler\.js$/);
  expect(() => packageFile("/", "wrangler", "bin/wrangler.js")).toThrow(
    expect.objectContaining({
      code: "package_missing",
      message: expect.stringContaining("wrangler is not installed"),
    }),
  );
});
