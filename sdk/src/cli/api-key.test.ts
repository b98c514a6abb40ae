import { expect, it } from "vitest";
import { firstPlainKey } from "./api-key.ts";

const hash = `sha256:${"0".repeat(64)}`;

it.each([
  ["", undefined],
  [" , ", undefined],
  ["one,two", "one"],
  [", b,c", "b"],
  ["a$MODEL", "a$MODEL"],
  [`${hash}, web:${hash},one`, "one"],
  [hash, undefined],
  [JSON.stringify([{ key: hash, name: "web" }, { key: "one" }]), "one"],
])("firstPlainKey(%j) is %j", (setting, key) => {
  expect(firstPlainKey(setting)).toBe(key);
});
