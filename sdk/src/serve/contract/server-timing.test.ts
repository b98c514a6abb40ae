import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatServerTiming, timingOf } from "./headers.ts";

const ms = fc.double({ min: 0, max: 1e6, noNaN: true });
const PRINTED_TO = 0.005;

describe("formatServerTiming", () => {
  it("writes a list of names and durations", () => {
    expect(formatServerTiming({ compute: 1.2345, total: 3 })).toBe("compute;dur=1.23, total;dur=3.00");
  });
});

describe("timingOf", () => {
  it("reads a duration that formatServerTiming wrote, anywhere in the list", () => {
    fc.assert(
      fc.property(ms, ms, ms, (compute, total, queue) => {
        const read = timingOf(formatServerTiming({ queue, compute, total }), "compute");
        expect(Math.abs(read - compute)).toBeLessThanOrEqual(PRINTED_TO + compute * Number.EPSILON);
      }),
    );
  });

  it.each([
    [null, 0],
    ["", 0],
    ["total;dur=5", 0],
    ["region-compute;dur=5", 0],
    ["precompute;dur=5", 0],
    ["compute", 0],
    ["compute;dur=", 0],
    ["compute;dur=.", 0],
    ["compute;dur=-3", 0],
    ["total;dur=5,compute;dur=7", 7],
    ["compute;dur=1.2.3", 1.2],
    [`compute;dur=${"9".repeat(400)}`, 0],
  ])("reads %j as %d", (header, expected) => {
    expect(timingOf(header, "compute")).toBe(expected);
  });

  it("reads each of several durations", () => {
    const header = formatServerTiming({ queue: 1, compute: 2, total: 4 });
    expect(["queue", "compute", "total"].map((name) => timingOf(header, name))).toEqual([1, 2, 4]);
  });

  it("returns a number for any header, never NaN", () => {
    const anyHeader = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(..."0123456789.;=, e-") }).map((rest) => `compute;dur=${rest}`),
    );
    fc.assert(
      fc.property(anyHeader, (header) => {
        expect(timingOf(header, "compute")).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
