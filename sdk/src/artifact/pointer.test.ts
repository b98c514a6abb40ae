import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { places, replaced } from "#test/fixtures/json-places.ts";
import { refusal } from "#test/fixtures/refusal.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { measurements } from "#test/fixtures/small-artifact.ts";
import { versionOf } from "./keys.ts";
import { POINTER_FORMAT, type Pointer, parsePointer } from "./pointer.ts";

const sha256 = "0123456789abcdef".repeat(4);
const pointer: Pointer = {
  format: POINTER_FORMAT,
  name: "small",
  version: versionOf(sha256),
  manifest: { sha256, size: 2, text: "{}" },
  measurements,
};

describe("parsePointer", () => {
  it("reads back what was written", () => {
    expect(parsePointer(JSON.stringify(pointer), "here")).toEqual(pointer);
    const { measurements: _, ...rest } = pointer;
    expect(parsePointer(JSON.stringify(rest), "here")).toEqual(rest);
  });

  it.each([
    ["a version that does not have 12 digits", { version: sha256 }],
    ["a hash in capitals", { manifest: { sha256: sha256.toUpperCase(), size: 10 } }],
    ["a fractional size", { manifest: { sha256, size: 1.5 } }],
    ["a negative size", { manifest: { sha256, size: -1 } }],
    ["a manifest of more than 4 MiB", { manifest: { sha256, size: 4 * 1024 * 1024 + 1 } }],
    ["a manifest of 2^50 bytes", { manifest: { sha256, size: 2 ** 50 } }],
    ["a manifest that is no text", { manifest: { sha256, size: 2, text: {} } }],
    ["a negative latency", { measurements: { edge: { latency: { base: -1, perToken: 0, perSquare: 0 } } } }],
    ["a latency of zero", { measurements: { edge: { latency: { base: 0, perToken: 0, perSquare: 0 } } } }],
    ["another format", { format: "bert-edge/0" }],
  ])("refuses %s", (_, change) => {
    expect(refusal(() => parsePointer(JSON.stringify({ ...pointer, ...change }), "here"))).toBe("pointer_invalid");
  });

  it("returns a pointer or throws pointer_invalid, for any change and any text", () => {
    const paths = places(pointer);
    const changed = fc
      .tuple(fc.nat(paths.length - 1), fc.option(fc.jsonValue(), { nil: undefined }))
      .map(([at, value]) => JSON.stringify(replaced(pointer, paths[at] as string[], value)) ?? "");
    fc.assert(
      fc.property(fc.oneof(changed, fc.string(), fc.json()), (text) => {
        expect(["accepted", "pointer_invalid"]).toContain(refusal(() => parsePointer(text, "here")));
      }),
      seeded(500),
    );
  });
});
