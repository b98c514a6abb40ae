import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "../artifact/error.ts";
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

describe("the streams", () => {
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
  it("tells how long each stage took, when the next begins or it is done", () => {
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

describe("printError", () => {
  it("says of our own errors what, how to fix it and what lies at the bottom, without a trace", () => {
    const cause = new AggregateError([
      new Error("outer", { cause: new Error("the disk is full") }),
      new Error("second"),
    ]);
    printError(new BertEdgeError("storage_unavailable", "It failed.", { hint: "Make room.", cause }));
    expect(err).toBe("\nError storage_unavailable: It failed.\n  Make room.\n  caused by the disk is full\n");
  });

  it("says no more than it knows", () => {
    printError(new BertEdgeError("internal", "It failed."));
    expect(err).toBe("\nError internal: It failed.\n");
  });

  it("shows the whole trace of any other error, for that is our fault", () => {
    printError(new TypeError("oops"));
    expect(err).toContain("TypeError: oops\n    at ");
  });

  it("shows what was thrown when it is no error", () => {
    printError("thrown");
    expect(err).toBe("\nthrown\n");
  });
});

describe("table", () => {
  it("aligns the first column left and the others right, as wide as their widest cell", () => {
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

  it("is its headings without rows", () => {
    expect(table(["a", "b"], [])).toBe("a  b\n─  ─");
  });
});
