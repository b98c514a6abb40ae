import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../../test/suites/temporary-folder.ts";
import { inChild } from "./in-child.ts";

const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

/** Runs a few lines in a child, with `answer` and `BertEdgeError` at hand. */
async function child<T>(lines: string, args: readonly string[] = []): Promise<T> {
  const path = join(await temporaryFolder(), "script.ts");
  const imports = `import { answer } from ${here("./in-child.ts")};
    import { BertEdgeError } from ${here("../../artifact/error.ts")};`;
  await writeFile(path, `${imports}\n${lines}`);
  return inChild<T>(pathToFileURL(path), args);
}

describe("inChild", () => {
  it("answers with a script's result, which sees its arguments", async () => {
    expect(await child("await answer(Promise.resolve(process.argv.slice(2)));", ["a", "b c"])).toEqual(["a", "b c"]);
  });

  it("keeps NaN and infinite figures, which a gate must see", async () => {
    const figures = { nan: Number.NaN, up: Number.POSITIVE_INFINITY, none: undefined };
    expect(await child("await answer(Promise.resolve({ nan: NaN, up: Infinity, none: undefined }));")).toEqual(figures);
  });

  it("rejects with the script's own error, its code and its hint", async () => {
    const work = child(`await answer(Promise.reject(new BertEdgeError("x_invalid", "No.", { hint: "Do." })));`);
    await expect(work).rejects.toMatchObject({ code: "x_invalid", message: "No.", hint: "Do." });
  });

  it.each([
    ["any other error", "await answer(Promise.reject(new TypeError('oops')));", /oops/],
    ["what is no error", "await answer(Promise.reject('thrown'));", /thrown/],
    ["a crash", "process.kill(process.pid, 'SIGSEGV');", /ended with SIGSEGV/],
    ["an end without an answer", "process.exit(3);", /ended with 3/],
    ["a script that cannot be read", "const", /ended with 1/],
  ])("makes parity_failed of %s", async (_, lines, message) => {
    await expect(child(lines)).rejects.toMatchObject({
      code: "parity_failed",
      message: expect.stringMatching(message),
    });
  });

  it("gives the script's last words as a hint", async () => {
    await expect(child("console.error('out of luck'); process.exit(1);")).rejects.toMatchObject({
      hint: "out of luck",
    });
  });
});
