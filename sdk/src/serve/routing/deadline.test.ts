import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deadlineAfter, startDeadline } from "./deadline.ts";

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
  it("has no budget without the header, but measures elapsed time", () => {
    const { clock, now } = clockAt(5);
    const deadline = startDeadline(undefined, now);
    clock.now = 8;
    expect(deadline.elapsedMs()).toBe(3);
    expect(deadline.remainingMs()).toBeUndefined();
  });

  it("counts down from the start to below zero", () => {
    const { clock, now } = clockAt(1_000);
    const deadline = startDeadline("30", now);
    expect(deadline.remainingMs()).toBe(30);
    clock.now = 1_012;
    expect([deadline.elapsedMs(), deadline.remainingMs()]).toEqual([12, 18]);
    clock.now = 1_031.5;
    expect(deadline.remainingMs()).toBe(-1.5);
  });

  it("accepts any positive decimal number", () => {
    fc.assert(
      fc.property(budget, (text) => {
        expect(startDeadline(text, () => 0).remainingMs()).toBe(Number(text));
      }),
    );
  });

  it("accepts every number that JavaScript prints for a time difference", () => {
    fc.assert(
      fc.property(fc.double({ min: 0.001, max: 100_000, noNaN: true }), (ms) => {
        expect(startDeadline(String(ms), () => 0).remainingMs()).toBe(ms);
      }),
    );
  });

  it("accepts white space around the number", () => {
    expect(startDeadline(" 12.5\t", () => 0).remainingMs()).toBe(12.5);
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
    expect(() => startDeadline(text)).toThrow(
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
          const budgetMs = startDeadline(text, () => 0).remainingMs();
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

describe("deadlineAfter", () => {
  it("counts down from a number of milliseconds", () => {
    const { clock, now } = clockAt(10);
    const deadline = deadlineAfter(30, now);
    clock.now = 15;
    expect([deadline.elapsedMs(), deadline.remainingMs()]).toEqual([5, 25]);
    expect(deadlineAfter(undefined, now).remainingMs()).toBeUndefined();
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e9])("refuses %d", (budgetMs) => {
    expect(() => deadlineAfter(budgetMs)).toThrow(
      expect.objectContaining({ code: "budget_invalid", message: expect.stringContaining(String(budgetMs)) }),
    );
  });
});
