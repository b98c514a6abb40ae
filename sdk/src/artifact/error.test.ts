import { expect, it } from "vitest";
import { retryAfterOf } from "./error.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

it.each([
  ["7", 7_000],
  ["0", 0],
  ["Thu, 01 Jan 2026 00:00:30 GMT", 30_000],
  ["Wed, 31 Dec 2025 00:00:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
])("reads %j of Retry-After as %s ms", (header, ms) => {
  expect(retryAfterOf(new Headers({ "retry-after": header }), NOW)).toBe(ms);
});

it("says that a response without Retry-After names no wait", () => {
  expect(retryAfterOf(new Headers(), NOW)).toBeUndefined();
});
