import { describe, expect, it } from "vitest";
import { binsToRecover, reversals } from "./recovery.ts";

describe("binsToRecover", () => {
  it.each([
    ["at once", [80, 79, 81], 0],
    ["after the last bad bin", [50, 80, 60, 77, 80], 3],
    ["never", [50, 60, 70], 3],
  ])("counts a recovery %s", (_, goodput, bins) => {
    expect(binsToRecover(goodput, 80)).toBe(bins);
  });
});

describe("reversals", () => {
  it.each([
    ["a share that stays", [10, 11, 10, 9, 10], 0],
    ["a share that only rises", [0, 4, 3, 9, 15], 0],
    ["an overshoot", [0, 10, 20, 15], 1],
    ["an overshoot that is corrected twice", [0, 20, 12, 16], 2],
    ["a fall and a rise", [20, 10, 15], 1],
  ])("counts those of %s", (_, percent, count) => {
    expect(reversals(percent)).toBe(count);
  });
});
