import { expect, it } from "vitest";
import { isInnerPath } from "./inner-path.ts";

it.each(["main", "refs/pr/1", "a..b", ".x/..."])("takes %j", (path) => expect(isInnerPath(path)).toBe(true));

it.each(["", ".", "..", "/a", "a/", "a//b", "a/../b", "a/./b", "a\\b", "C:x", "a\0"])("refuses %j", (path) =>
  expect(isInnerPath(path)).toBe(false),
);
