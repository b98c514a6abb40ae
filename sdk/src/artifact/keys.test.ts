import { expect, it } from "vitest";
import { blobKey, keyPrefix, pointerKey, versionOf } from "./keys.ts";

it.each([
  ["", ""],
  ["/", ""],
  ["team-a", "team-a/"],
  ["team-a/", "team-a/"],
  ["team-a//", "team-a/"],
  ["org/team-a", "org/team-a/"],
])("puts objects below %j under the prefix %j", (path, prefix) => {
  expect(keyPrefix(path)).toBe(prefix);
});

it("derives keys from a file's hash and from a model's name", () => {
  const sha256 = "0123456789abcdef".repeat(4);
  expect(blobKey(sha256)).toBe(`blobs/sha256/${sha256}`);
  expect(pointerKey("small")).toBe("models/small/current.json");
  expect(versionOf(sha256)).toBe("0123456789ab");
});
