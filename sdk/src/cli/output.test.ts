import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { BertEdgeError } from "../artifact/error.ts";
import { UnavailableError } from "../client/errors.ts";
import { printError, printErrorJson, printJson, printNote, printResult, table } from "./output.ts";

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
    printError(new Error("no"));
    expect(out).toBe('result\n{\n  "a": 1\n}\n');
    expect(err).toMatch(/^note\n\nError: no\n/);
  });

  it("carry no control characters of what they print", () => {
    const text = "\x1b[2Jname\x9b";
    printResult(text);
    printJson({ text });
    printNote(text);
    printError(new BertEdgeError("internal", text, { hint: text, cause: new Error(text) }));
    printError(new UnavailableError(text, { code: text }));
    printError(new TypeError(text));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
    expect((out + err).match(/\x1b\[2J|[\x7f-\x9f]/)).toBeNull();
    expect(err.match(/\\x1b\[2Jname\\x9b/g)).toHaveLength(7);
  });
});

describe("printError", () => {
  it("prints code, message, hint and root cause of a BertEdgeError, without a stack", () => {
    const cause = new AggregateError([
      new Error("outer", { cause: new Error("the disk is full") }),
      new Error("second"),
    ]);
    printError(new BertEdgeError("storage_unavailable", "It failed.", { hint: "Make room.", cause }));
    expect(err).toBe(
      "\nError storage_unavailable: It failed.\n  Make room.\n  caused by the disk is full\n  More: npx bert-edge explain storage_unavailable\n",
    );
  });

  it("leaves out a missing hint and cause", () => {
    printError(new BertEdgeError("internal", "It failed."));
    expect(err).toBe("\nError internal: It failed.\n  More: npx bert-edge explain internal\n");
  });

  it("prints code, message and hint of a service's error", () => {
    const details = { code: "setting_invalid", hint: "Set REGION_URL." };
    printError(new UnavailableError("The region's URL is not valid.", details));
    expect(err).toBe(
      "\nError setting_invalid: The region's URL is not valid.\n  Set REGION_URL.\n  More: npx bert-edge explain setting_invalid\n",
    );
  });

  it("prints the whole stack of any other error, because it is a bug", () => {
    printError(new TypeError("oops"));
    expect(err).toContain("TypeError: oops\n    at ");
  });

  it("prints a thrown value that is not an error", () => {
    printError("thrown");
    expect(err).toMatch(/^\nthrown\n {2}This is a bug .+\n {2}More: npx bert-edge explain internal\n$/);
  });

  it.each(["connection", "http_503"])("names the explanation of the client's code %s", (code) => {
    printError(new UnavailableError("No.", { code }));
    expect(err).toContain(`More: npx bert-edge explain ${code}\n`);
  });

  it("names no explanation of a code that a user's own app made", () => {
    printError(new UnavailableError("No.", { code: "own_code" }));
    expect(err).toBe("\nError own_code: No.\n");
  });
});

describe("printErrorJson", () => {
  it("has code, message and hint", () => {
    printErrorJson(new BertEdgeError("name_invalid", "It failed.", { hint: "Do." }));
    expect(JSON.parse(out)).toEqual({ error: { code: "name_invalid", message: "It failed.", hint: "Do." } });
  });

  it("does not take a code of Node.js for ours", () => {
    printErrorJson(Object.assign(new Error("ENOENT: no such file"), { code: "ENOENT", hint: 1 }));
    expect(JSON.parse(out)).toEqual({ error: { code: "internal", message: "ENOENT: no such file" } });
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
