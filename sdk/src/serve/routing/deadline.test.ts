import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readBudget, startDeadline } from "./deadline.ts";

/** Makes a clock that the test controls. */
function clockAt(start: number) {
  const clock = { now: start };
  return { clock, now: () => clock.now };
}

const budget = fc
  .tuple(fc.integer({ min: 0, max: 999_999_999 }), fc.option(fc.stringMatching(/^[0-9]{1,17}$/), { nil: undefined }))
  .map(([whole, decimals]) => (decimals === undefined ? `${whole}` : `${whole}.${decimals}`))
  .filter((text) => Number(text) > 0);

describe("startDeadline", () => {
  it("has no budget without one, but measures elapsed time", () => {
    const { clock, now } = clockAt(5);
    const deadline = startDeadline(undefined, { now });
    clock.now = 8;
    expect(deadline.elapsedMs()).toBe(3);
    expect(deadline.remainingMs()).toBeUndefined();
  });

  it("counts down from the start to below zero", () => {
    const { clock, now } = clockAt(1_000);
    const deadline = startDeadline(30, { now });
    expect(deadline.remainingMs()).toBe(30);
    clock.now = 1_012;
    expect([deadline.elapsedMs(), deadline.remainingMs()]).toEqual([12, 18]);
    clock.now = 1_031.5;
    expect(deadline.remainingMs()).toBe(-1.5);
  });

  it("counts from the arrival of the request, which may be earlier than now", () => {
    const { now } = clockAt(100);
    const deadline = startDeadline(30, { now, arrival: { at: 88, errorMs: 0, busyMs: 0 } });
    expect([deadline.elapsedMs(), deadline.remainingMs(), deadline.budgetMs]).toEqual([12, 18, 30]);
  });

  it.each([0, -1, Number.NaN, 1e9])("refuses %d", (budgetMs) => {
    expect(() => startDeadline(budgetMs)).toThrow(
      expect.objectContaining({ code: "budget_invalid", message: expect.stringContaining(String(budgetMs)) }),
    );
  });
});

describe("readBudget", () => {
  it("finds none in a request without one", () => {
    expect(readBudget({})).toBeUndefined();
  });

  it("takes the smallest of several", () => {
    expect(readBudget({ header: "30", grpcTimeout: "20m" })).toBe(20);
    expect(readBudget({ header: "10", grpcTimeout: "20m" })).toBe(10);
  });

  it.each([
    ["1H", 3_600_000],
    ["2M", 120_000],
    ["3S", 3_000],
    ["50m", 50],
    ["1500u", 1.5],
    ["99999999n", 99.999999],
    [" 50m ", 50],
  ])("reads grpc-timeout %s", (grpcTimeout, ms) => {
    expect(readBudget({ grpcTimeout })).toBeCloseTo(ms, 9);
  });

  it.each(["", "50", "m", "123456789m", "5.5m", "-5m", "0m", "50s", "50h", "50mm", "５m"])(
    "refuses grpc-timeout %j",
    (grpcTimeout) => {
      expect(() => readBudget({ grpcTimeout })).toThrow(
        expect.objectContaining({ code: "budget_invalid", message: expect.stringContaining("grpc-timeout") }),
      );
    },
  );

  it("gives a budget that startDeadline accepts, for the longest grpc-timeout too", () => {
    expect(startDeadline(readBudget({ grpcTimeout: "99999999H" })).remainingMs()).toBeGreaterThan(1e8);
  });

  it("accepts any positive decimal number", () => {
    fc.assert(
      fc.property(budget, (text) => {
        expect(readBudget({ header: text })).toBe(Number(text));
      }),
    );
  });

  it("accepts every number that JavaScript prints for a time difference", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 100_000, noNaN: true }), (ms) => {
        expect(readBudget({ header: String(ms) })).toBe(ms);
      }),
    );
  });

  it("accepts white space around the number", () => {
    expect(readBudget({ header: " 12.5\t" })).toBe(12.5);
  });

  it.each([
    "",
    " ",
    "0",
    "0.0",
    "-1",
    "+1",
    "1e3",
    "1e-3",
    "0x10",
    "1,5",
    "1 2",
    ".5",
    "5.",
    "1.2.3",
    "NaN",
    "Infinity",
    "30ms",
    "１２",
    "1234567890",
    "30, 30",
    "null",
    "\u0000",
    "٣",
  ])("refuses %j and explains the format", (text) => {
    expect(() => readBudget({ header: text })).toThrow(
      expect.objectContaining({
        code: "budget_invalid",
        message: expect.stringContaining(JSON.stringify(text)),
        hint: expect.any(String),
      }),
    );
  });

  it("reads a header as a positive finite number, or refuses it", () => {
    const mostlyNumbers = fc.string({ unit: fc.constantFrom(..."0123456789.,-+eExX \t") });
    fc.assert(
      fc.property(fc.oneof(fc.string(), mostlyNumbers), (text) => {
        try {
          const budgetMs = readBudget({ header: text });
          expect(budgetMs).toBeGreaterThan(0);
          expect(budgetMs).toBeLessThan(1e9);
        } catch (error) {
          expect(error).toMatchObject({ code: "budget_invalid" });
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
