import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { type Errand, inChild } from "./in-child.ts";

const here = (file: string) => JSON.stringify(new URL(file, import.meta.url).href);

const ERRAND: Errand = { failure: "parity_failed", what: "Nothing came of it", deadlineMs: 60_000 };

/** Runs a few lines in a child, with `answer` and `BertEdgeError` at hand. */
async function child<T>(lines: string, args: readonly string[] = [], errand: Errand = ERRAND): Promise<T> {
  const path = join(await temporaryFolder(), "script.ts");
  const imports = `import { answer } from ${here("./in-child.ts")};
    import { BertEdgeError } from ${here("../../artifact/error.ts")};`;
  await writeFile(path, `${imports}\n${lines}`);
  return inChild<T>(pathToFileURL(path), args, errand);
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
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

  it("says what caused the script's own error", async () => {
    const work = child(
      `await answer(Promise.reject(new BertEdgeError("x_invalid", "No.", { cause: new Error("why") })));`,
    );
    await expect(work).rejects.toMatchObject({ cause: { message: "why" } });
  });

  it.each([
    ["any other error", "await answer(Promise.reject(new TypeError('oops')));", /oops/],
    ["what is no error", "await answer(Promise.reject('thrown'));", /thrown/],
    ["a crash", "process.kill(process.pid, 'SIGSEGV');", /ended with SIGSEGV/],
    ["an end without an answer", "process.exit(3);", /ended with 3/],
    ["a script that cannot be read", "const", /ended with 1/],
  ])("makes the errand's failure of %s", async (_, lines, message) => {
    await expect(child(lines)).rejects.toMatchObject({
      code: "parity_failed",
      message: expect.stringMatching(message),
    });
  });

  it("takes a script that is not done by its deadline to hang", async () => {
    const work = child("await answer(new Promise((done) => setTimeout(done, 60_000)));", [], {
      ...ERRAND,
      deadlineMs: 600,
    });
    await expect(work).rejects.toMatchObject({
      code: "parity_failed",
      message: expect.stringContaining("0.01 minutes"),
    });
  });

  it("does not leave a script at work when the process that wants its answer is killed", async () => {
    const folder = await temporaryFolder();
    const [parent, script] = [join(folder, "parent.ts"), join(folder, "script.ts")];
    await writeFile(
      script,
      `import { answer } from ${here("./in-child.ts")};
      console.error(process.pid);
      await answer(new Promise((done) => setTimeout(done, 60_000)));`,
    );
    await writeFile(
      parent,
      `import { fork } from "node:child_process";
      fork(${JSON.stringify(script)}, { stdio: ["ignore", "ignore", "inherit", "ipc"] });`,
    );
    const wanting = spawn(process.execPath, [parent], { stdio: ["ignore", "ignore", "pipe"] });
    const [pid] = await once(wanting.stderr, "data");
    wanting.kill("SIGKILL");
    await expect.poll(() => isRunning(Number(pid)), { timeout: 5000 }).toBe(false);
  });

  it("gives the script's last words as a hint", async () => {
    await expect(child("console.error('out of luck'); process.exit(1);")).rejects.toMatchObject({
      hint: "out of luck",
    });
  });
});
