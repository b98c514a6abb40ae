import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomProgram } from "#test/fixtures/random-program/index.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { usesOf } from "./step-uses.ts";

const programs = fc.record({ seed: fc.nat(), length: fc.integer({ min: 1, max: 14 }) });

describe("usesOf", () => {
  it("names the values that a step reads or writes, whatever it does", () => {
    const ops = new Set<string>();
    fc.assert(
      fc.property(programs, ({ seed, length }) => {
        const { program, touched } = randomProgram(seed, length);
        program.steps.forEach((step, at) => {
          ops.add(step.op);
          const { reads = [], writes = [] } = usesOf(step, program) ?? {};
          expect(new Set([...reads, ...writes].map(({ value }) => value))).toEqual(new Set(touched[at]));
        });
      }),
      seeded(300),
    );
    expect(ops.size).toBe(11);
  });
});
