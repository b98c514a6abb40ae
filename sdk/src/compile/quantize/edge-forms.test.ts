import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seeded } from "#test/fixtures/seeded.ts";
import { Graph } from "../graph/graph.ts";
import { tensor } from "../graph/tensor.ts";
import { formsWithin, savedBytes, smallestForms } from "./edge-forms.ts";
import type { LinearLayer } from "./linear-layers.ts";
import type { EdgeForms } from "./precisions.ts";

const graph = new Graph("layers");

/** A layer whose weights are never read. */
function layer(name: string, inputs: number, outputs: number): LinearLayer {
  const weight = graph.constant(`${name}.weight`, {
    ...tensor("float32", [], new Float32Array(1)),
    shape: [inputs, outputs],
  });
  return { name, x: graph.input(`${name}.x`), weight: weight as LinearLayer["weight"], bias: undefined };
}

const layers = [layer("a", 64, 64), layer("b", 64, 256), layer("narrow", 48, 64)];
const quantizers = { layers, tableElements: 6_400 };
const wholeBytes = 64 * 64 + 64 * 256 + 48 * 64 + 6_400;
const bytesOf = (forms: EdgeForms) => wholeBytes - savedBytes(quantizers, forms);
const smallest = bytesOf(smallestForms(layers));

const errorsOf = (a: number, b: number, narrow: number, table: number) => ({
  layers: new Map([
    ["a", a],
    ["b", b],
    ["narrow", narrow],
  ]),
  table,
});
const groupsOf = ({ groups, tableBits }: EdgeForms) => [...layers.map(({ name }) => groups.get(name) ?? 8), tableBits];

describe("savedBytes", () => {
  it("counts half a byte for each weight, and 12 bytes for 8 outputs of a group", () => {
    const only = (forms: EdgeForms["groups"]) => savedBytes(quantizers, { tableBits: 8, groups: forms });
    expect(only(new Map([["a", 16]]))).toBe(64 * 64 - 8 * 4 * (12 + 64));
    expect(only(new Map([["a", 32]]))).toBe(64 * 64 - 8 * 2 * (12 + 128));
    expect(savedBytes(quantizers, { tableBits: 4, groups: new Map() })).toBe(6_400 - 3_200 - 200);
    expect(only(new Map())).toBe(0);
  });
});

describe("smallestForms", () => {
  it("takes groups of 32 where they divide the inputs", () => {
    expect(groupsOf(smallestForms(layers))).toEqual([32, 32, 16, 4]);
  });
});

describe("formsWithin", () => {
  it("stays with the smallest forms without room, and takes 8 bits for all with enough", () => {
    const errors = errorsOf(1, 1, 1, 1);
    expect(groupsOf(formsWithin(quantizers, errors, 0))).toEqual([32, 32, 16, 4]);
    expect(groupsOf(formsWithin(quantizers, errors, wholeBytes - smallest))).toEqual([8, 8, 8, 8]);
  });

  it("first enlarges the part that loses the least bytes for its error", () => {
    const room = 64 * 64;
    expect(groupsOf(formsWithin(quantizers, errorsOf(1, 0, 0, 0), room))[0]).toBe(8);
    expect(groupsOf(formsWithin(quantizers, errorsOf(0, 0, 0, 1), room))[3]).toBe(8);
    expect(groupsOf(formsWithin(quantizers, errorsOf(0, 0, 1, 0), room))[2]).toBe(8);
    // Groups of 16 instead of 32 remove a third of the error for a tenth of the bytes.
    expect(groupsOf(formsWithin(quantizers, errorsOf(0, 1, 0, 0), 1_000))[1]).toBe(16);
  });

  it("never takes more bytes than there are, and leaves no room that a part could use", () => {
    const error = fc.double({ min: -0.1, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.tuple(error, error, error, error), fc.nat(wholeBytes), (errors, room) => {
        const forms = formsWithin(quantizers, errorsOf(...errors), room);
        const left = room - (bytesOf(forms) - smallest);
        expect(left).toBeGreaterThanOrEqual(0);
        if (forms.tableBits === 4) expect(left).toBeLessThan(6_400 - 3_400);
      }),
      seeded(200),
    );
  });
});
