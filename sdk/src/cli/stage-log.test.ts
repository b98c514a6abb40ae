import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { duration, logLine, remainingMs, stageLog, terminalLine } from "./stage-log.ts";

let err: string;
beforeEach(() => {
  err = "";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += text;
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

/** Whether a terminal shows colours depends on the environment of the test. */
const stripColours = (text: string) => text.replaceAll("\x1b[32m", "").replaceAll("\x1b[39m", "");

describe("stageLog", () => {
  it("prints the time of each stage when the next stage begins or the command is done", () => {
    const now = vi.spyOn(performance, "now");
    const log = stageLog();
    now.mockReturnValue(10_000);
    log.stage("first");
    expect(err).toBe("");
    now.mockReturnValue(11_540);
    log.stage("second");
    expect(err).toMatch(/^✓ first +1\.5 s\n$/);
    now.mockReturnValue(12_540);
    log.done();
    expect(err).toMatch(/second +1\.0 s\n$/);
  });
});

describe("stageLog, while a stage runs", () => {
  const { isTTY } = process.stderr;
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
  afterEach(() => {
    vi.useRealTimers();
    process.stderr.isTTY = isTTY;
  });

  it("ends without a word when it is disposed before the stage is done", () => {
    {
      using log = stageLog();
      log.stage("first");
    }
    vi.advanceTimersByTime(60_000);
    expect(err).toBe("");
  });

  it("leaves no line about the running stage on a terminal when it is disposed", () => {
    process.stderr.isTTY = true;
    {
      using log = stageLog();
      log.stage("first");
    }
    expect(err).toContain("… first ");
    expect(err.endsWith("\r\x1b[K")).toBe(true);
  });

  it("shows no time of work that took none", () => {
    process.stderr.isTTY = false;
    const log = stageLog();
    log.stage("first");
    vi.advanceTimersByTime(49);
    log.stage("second");
    vi.advanceTimersByTime(50);
    log.done();
    expect(stripColours(err)).toMatch(/^✓ first\n✓ second +0\.1 s\n$/);
  });

  it("prints fewer lines into a log, the longer the work takes", () => {
    process.stderr.isTTY = false;
    const log = stageLog();
    log.progress({ message: "observe" });
    vi.advanceTimersByTime(360_000);
    expect(err.match(/\d+ s|\d+ min.*|\d+:\d+/g)).toHaveLength(7);
    log.done();
  });

  it("prints a line after five seconds into a log, and another after ten", () => {
    process.stderr.isTTY = false;
    const log = stageLog();
    log.progress({ message: "observe" });
    vi.advanceTimersByTime(4_000);
    expect(err).toBe("");
    vi.advanceTimersByTime(1_000);
    log.progress({ message: "observe", fraction: 0.25 });
    vi.advanceTimersByTime(5_000);
    expect(err).toBe("… observe: 5 s\n… observe: 25 %, 10 s, 30 s left\n");
    log.done();
    vi.advanceTimersByTime(60_000);
    expect(err).toMatch(/left\n✓ observe +10\.0 s\n$/);
  });

  it("prints a line when progress arrives late, because an engine has blocked the timers", () => {
    process.stderr.isTTY = false;
    const log = stageLog();
    log.progress({ message: "measure" });
    const now = performance.now();
    vi.spyOn(performance, "now").mockReturnValue(now + 8_000);
    log.progress({ message: "measure", fraction: 0.5 });
    expect(err).toBe("… measure: 50 %, 8 s, 8 s left\n");
    log.done();
  });

  it("shows a rate, and predicts the end of work that continues an earlier run", () => {
    process.stderr.isTTY = false;
    const log = stageLog();
    log.progress({ message: "embed", fraction: 0.5, startFraction: 0.5 });
    vi.advanceTimersByTime(4_000);
    log.progress({ message: "embed", fraction: 0.75, startFraction: 0.5, detail: "9 records, 2/s" });
    vi.advanceTimersByTime(1_000);
    expect(err).toBe("… embed: 75 %, 9 records, 2/s, 5 s, 5 s left\n");
    log.done();
  });

  it("rewrites one line on a terminal, with a bar once the share is known", () => {
    process.stderr.isTTY = true;
    const log = stageLog();
    log.stage("measure");
    vi.advanceTimersByTime(1_000);
    log.progress({ message: "measure", fraction: 0.5 });
    vi.advanceTimersByTime(1_000);
    log.done();
    const lines = stripColours(err).replaceAll("\x1b[K", "⌫").replaceAll(/ +/g, " ").split("\r").slice(1);
    expect(lines).toEqual([
      "… measure 0 s⌫",
      "… measure 1 s⌫",
      "… measure ██████████░░░░░░░░░░ 50 %, 2 s, 2 s left⌫",
      "⌫✓ measure 2.0 s\n",
    ]);
  });
});

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
