import { expect, it } from "vitest";
import { faults } from "./faults.ts";

const manifest = { name: "x", version: "0.2.0", repository: { url: "git+https://example.com/x.git" } };

it("finds nothing in packages with the tag's version and a repository", () => {
  expect(faults("v0.2.0", new Map([["sdk/package.json", manifest]]))).toEqual([]);
  expect(faults("v0.2.0", new Map([["sdk/package.json", { ...manifest, repository: "github:x/x" }]]))).toEqual([]);
});

it.each([
  ["a missing repository", "v0.2.0", { name: "x", version: "0.2.0" }, "sdk/package.json has no `repository`."],
  ["a repository without its URL", "v0.2.0", { ...manifest, repository: {} }, "sdk/package.json has no `repository`."],
  ["another tag", "v0.3.0", manifest, "The tag is v0.3.0, but sdk/package.json has the version 0.2.0."],
  ["no tag", "", manifest, "The tag is missing, but sdk/package.json has the version 0.2.0."],
])("names the file with %s", (_, tag, found, what) => {
  expect(faults(tag, new Map([["sdk/package.json", found]]))).toEqual([expect.stringContaining(what)]);
});
