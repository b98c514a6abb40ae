import { expect, it } from "vitest";
import { waitOf } from "./hub-error.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

it.each<[Record<string, string>, number | undefined]>([
  [{ "retry-after": "7" }, 7000],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ ratelimit: '"resolvers";r=0;t=55' }, 55_000],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("%j asks for %s ms", (headers, ms) => {
  expect(waitOf(new Headers(headers), NOW)).toBe(ms);
});
