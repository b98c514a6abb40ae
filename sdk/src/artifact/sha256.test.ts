import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { sha256Hex } from "./sha256.ts";

it("hashes the example of FIPS 180-2", async () => {
  expect(await sha256Hex(new TextEncoder().encode("abc"))).toBe(
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

it("agrees with Node's hash on any bytes, including a part of a buffer", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.nat(50), async (bytes, start) => {
      const part = new Uint8Array(bytes).subarray(start);
      expect(await sha256Hex(part)).toBe(createHash("sha256").update(part).digest("hex"));
    }),
    seeded(50),
  );
});
