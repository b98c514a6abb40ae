import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkedProgram } from "#test/fixtures/random-program/checked-program.ts";
import { randomProgram } from "#test/fixtures/random-program/index.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import type { CheckedStep } from "./checked-program.ts";
import { segmentsOf } from "./segments.ts";

const programs = fc.record({ seed: fc.nat(), length: fc.integer({ min: 1, max: 14 }) });

describe("segmentsOf", () => {
  it("contains every step once, in order, and begins a segment only when the kind changes", () => {
    fc.assert(
      fc.property(programs, ({ seed, length }) => {
        const program = checkedProgram(randomProgram(seed, length).program);
        const segments = segmentsOf(program);
        const bounds = segments.flatMap(({ from, to }) => [from, to]);
        expect(bounds).toEqual([0, ...segments.slice(1).flatMap(({ from }) => [from, from]), program.steps.length]);
        segments.forEach(({ kind, from, to }, i) => {
          expect(from).toBeLessThan(to);
          expect(kind).not.toBe(segments[i - 1]?.kind);
        });
      }),
      seeded(300),
    );
  });

  it("puts attention, steps with one row per sequence, and all other steps into segments of their own kind", () => {
    fc.assert(
      fc.property(programs, ({ seed, length }) => {
        const drawn = randomProgram(seed, length).program;
        const program = checkedProgram(drawn);
        for (const { kind, from, to } of segmentsOf(program)) {
          for (let at = from; at < to; at++) {
            const { writes } = program.steps[at] as CheckedStep;
            const written = program.values[writes[0] as number];
            const isAttention = drawn.steps[at]?.op === "attention";
            expect(kind).toBe(isAttention ? "whole" : written?.of === "sequence" ? "sequences" : "rows");
          }
        }
      }),
      seeded(300),
    );
  });
});
