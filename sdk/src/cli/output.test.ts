import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "../artifact/error.ts";
import { UnavailableError } from "../client/errors/unavailable-error.ts";
import { printError, printJson, printNote, printResult, stageLog, table } from "./output.ts";

let out: string;
let err: string;
beforeEach(() => {
  out = "";
  err = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += text;
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    err += text;
    return true;
  });
});
afterEach(() => void vi.restoreAllMocks());

describe("the output streams", () => {
  it("carry results on stdout and everything else on stderr", () => {
    printResult("result");
    printJson({ a: 1 });
    printNote("note");
    const log = stageLog();
    log.stage("first");
    log.stage("second");
    log.done();
    log.done();
    printError(new Error("no"));
    expect(out).toBe('result\n{\n  "a": 1\n}\n');
    expect(err).toMatch(/^note\n✓ first +\d+\.\d s\n✓ second +\d+\.\d s\n\nError: no\n/);
  });
});

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

  it("prints a line every ten seconds into a log", () => {
    process.stderr.isTTY = false;
    const log = stageLog();
    log.progress({ message: "observe" });
    vi.advanceTimersByTime(9_000);
    expect(err).toBe("");
    vi.advanceTimersByTime(1_000);
    log.progress({ message: "observe", fraction: 0.254 });
    vi.advanceTimersByTime(10_000);
    expect(err).toBe("… observe: 10 s\n… observe: 25 %, 20 s\n");
    log.done();
    vi.advanceTimersByTime(60_000);
    expect(err).toMatch(/20 s\n✓ observe +20\.0 s\n$/);
  });

  it("rewrites the line on a terminal every second", () => {
    process.stderr.isTTY = true;
    const log = stageLog();
    log.stage("measure");
    vi.advanceTimersByTime(2_000);
    log.done();
    expect(err.replaceAll("\x1b[K", "⌫")).toMatch(
      /^… measure\r… measure: 1 s⌫\r… measure: 2 s⌫\r✓ measure +2\.0 s⌫\n$/,
    );
  });
});

describe("printError", () => {
  it("prints code, message, hint and root cause of a BertEdgeError, without a stack", () => {
    const cause = new AggregateError([
      new Error("outer", { cause: new Error("the disk is full") }),
      new Error("second"),
    ]);
    printError(new BertEdgeError("storage_unavailable", "It failed.", { hint: "Make room.", cause }));
    expect(err).toBe("\nError storage_unavailable: It failed.\n  Make room.\n  caused by the disk is full\n");
  });

  it("leaves out a missing hint and cause", () => {
    printError(new BertEdgeError("internal", "It failed."));
    expect(err).toBe("\nError internal: It failed.\n");
  });

  it("prints code, message and hint of a service's error", () => {
    const details = { code: "setting_invalid", hint: "Set REGION_URL." };
    printError(new UnavailableError("The region's URL is not valid.", details));
    expect(err).toBe("\nError setting_invalid: The region's URL is not valid.\n  Set REGION_URL.\n");
  });

  it("prints the whole stack of any other error, because it is a bug", () => {
    printError(new TypeError("oops"));
    expect(err).toContain("TypeError: oops\n    at ");
  });

  it("prints a thrown value that is not an error", () => {
    printError("thrown");
    expect(err).toBe("\nthrown\n");
  });
});

describe("table", () => {
  it("aligns the first column left and the others right; each is as wide as its widest cell", () => {
    expect(
      table(
        ["name", "ms"],
        [
          ["a", "1.00"],
          ["longer", "12.50"],
        ],
      ),
    ).toBe(["name       ms", "──────  ─────", "a        1.00", "longer  12.50"].join("\n"));
  });

  it("prints only the headings when there are no rows", () => {
    expect(table(["a", "b"], [])).toBe("a  b\n─  ─");
  });
});
