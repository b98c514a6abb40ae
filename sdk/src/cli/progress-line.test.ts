import { describe, expect, it } from "vitest";
import { duration, logLine, remainingMs, terminalLine } from "./progress-line.ts";

describe("remainingMs", () => {
  it("predicts that the work goes on at the same speed", () => {
    expect(remainingMs({ fraction: 0.25, elapsedMs: 10_000 })).toBe(30_000);
    expect(remainingMs({ fraction: 1, elapsedMs: 10_000 })).toBe(0);
  });

  it("does not count what was finished before the work began", () => {
    expect(remainingMs({ startFraction: 0.5, fraction: 0.75, elapsedMs: 10_000 })).toBe(10_000);
    expect(remainingMs({ startFraction: 0.5, fraction: 0.5, elapsedMs: 10_000 })).toBeUndefined();
  });

  it.each([
    [undefined, 10_000],
    [0, 10_000],
    [0.5, 999],
  ])("predicts nothing for the share %s after %d ms", (fraction, elapsedMs) => {
    expect(remainingMs({ fraction, elapsedMs })).toBeUndefined();
  });
});

it("logLine names work, percent, elapsed and remaining time, as far as they are known", () => {
  expect(logLine({ name: "observe", fraction: 0.25, elapsedMs: 10_000 })).toBe("… observe: 25 %, 10 s, 30 s left");
  expect(logLine({ name: "observe", fraction: 0, elapsedMs: 10_000 })).toBe("… observe: 0 %, 10 s");
  expect(logLine({ name: "embed", fraction: 0.25, detail: "12 records", elapsedMs: 10_000 })).toBe(
    "… embed: 25 %, 12 records, 10 s, 30 s left",
  );
  expect(logLine({ name: "read", fraction: undefined, elapsedMs: 65_000 })).toBe("… read: 1 min 5 s");
});

describe("terminalLine", () => {
  it("shows control characters of names", () => {
    const line = terminalLine({ name: "file\x1b[2J", detail: "\x9b", fraction: undefined, elapsedMs: 0 }, 120);
    expect(line).toMatch(/^… file\\x1b\[2J +\\x9b, 0 s$/);
  });

  const state = { name: "observe activations", fraction: 0.25, elapsedMs: 10_000 };

  it("has a bar that fills from the left", () => {
    expect(terminalLine(state, 120)).toBe(
      `… ${"observe activations".padEnd(48)} █████░░░░░░░░░░░░░░░ 25 %, 10 s, 30 s left`,
    );
    expect(terminalLine({ ...state, fraction: 1 }, 120)).toContain(`${"█".repeat(20)} 100 %, 10 s, 0 s left`);
  });

  it("shortens the name first", () => {
    expect(terminalLine({ ...state, name: "quantize: Target regional-cpu on ort-node, int8" }, 80)).toBe(
      "… quantize: Target regional-cpu on … █████░░░░░░░░░░░░░░░ 25 %, 10 s, 30 s left",
    );
  });

  it("has no bar for work of unknown length", () => {
    expect(terminalLine({ ...state, fraction: undefined }, 120)).toBe(`… ${"observe activations".padEnd(48)} 10 s`);
  });

  it.each([1, 20, 60, 80, 100])("fits into %d columns, so that it does not wrap", (columns) => {
    const line = terminalLine({ ...state, name: "quantize: ".repeat(20) }, columns);
    expect(line.length).toBeLessThanOrEqual(Math.max(columns - 1, 1));
  });
});

it.each([
  [400, "0 s"],
  [59_400, "59 s"],
  [59_600, "1 min 0 s"],
  [3_599_600, "1 h 0 min"],
  [7_800_000, "2 h 10 min"],
])("duration writes %d ms as %s", (ms, text) => {
  expect(duration(ms)).toBe(text);
});
