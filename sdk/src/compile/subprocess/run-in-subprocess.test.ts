import { spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { inSubprocess, runInSubprocess, type SubprocessOptions } from "./run-in-subprocess.ts";

const OPTIONS: SubprocessOptions = { failure: "parity_failed", what: "Nothing came of it", deadlineMs: 60_000 };

/** A module with the functions that the tests call. The subprocess imports it without vitest. */
const FUNCTIONS = `
  import { writeFileSync } from "node:fs";
  import { BertEdgeError } from ${JSON.stringify(new URL("../../artifact/error.ts", import.meta.url).href)};
  export const echo = async (...args) => args;
  export const figures = () => ({ nan: NaN, up: Infinity, none: undefined, bytes: Uint8Array.of(1, 2) });
  export const refuse = (hint, cause) => {
    throw new BertEdgeError("data_invalid", "No.", { hint, cause: cause && new Error(cause) });
  };
  export const fail = async () => { throw new TypeError("oops"); };
  export const throwText = () => { throw "thrown"; };
  export const crash = () => process.kill(process.pid, "SIGSEGV");
  export const leave = (words) => { console.error(words); process.exit(3); };
  export const hang = () => { console.error(process.pid); return new Promise((done) => setTimeout(done, 60_000)); };
  export const hangAfter = (path) => { writeFileSync(path, ""); return hang(); };
  export const spinAfter = (path) => { writeFileSync(path, String(process.pid)); for (;;); };
  export const staysAtExit = () => { process.on("exit", () => { for (;;); }); return process.pid; };
  export const constant = 1;`;

async function functionsFile(content = FUNCTIONS): Promise<string> {
  const path = join(await temporaryFolder(), "functions.ts");
  await writeFile(path, content);
  return pathToFileURL(path).href;
}

async function run<T>(
  name: string,
  args: readonly unknown[] = [],
  options: Partial<SubprocessOptions> = {},
): Promise<T> {
  return runInSubprocess<T>({ module: await functionsFile(), name, args }, { ...OPTIONS, ...options });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("runInSubprocess", () => {
  it("passes structured clones of the arguments, and returns the result", async () => {
    const args = ["a", new Map([["b", Float32Array.of(1.5, Number.NaN)]]), { c: undefined }];
    expect(await run("echo", args)).toEqual(args);
  });

  it("keeps NaN, infinite numbers and typed arrays", async () => {
    const figures = { nan: Number.NaN, up: Number.POSITIVE_INFINITY, none: undefined, bytes: Uint8Array.of(1, 2) };
    expect(await run("figures")).toEqual(figures);
  });

  it("rejects with the function's own error: its code, hint and cause", async () => {
    await expect(run("refuse", ["Do.", "why"])).rejects.toMatchObject({
      code: "data_invalid",
      message: "No.",
      hint: "Do.",
      cause: { message: "why" },
    });
    const bare = await run("refuse").catch((error: unknown) => error);
    expect(bare).toBeInstanceOf(BertEdgeError);
    expect(bare).toMatchObject({ hint: undefined });
  });

  it.each([
    ["another error", "fail", /oops/],
    ["a thrown string", "throwText", /thrown/],
    ["a crash", "crash", /ended with SIGSEGV/],
    ["an exit without an answer", "leave", /ended with 3/],
    ["an export that is not a function", "constant", /exports no function named "constant"/],
    ["an export that does not exist", "missing", /exports no function named "missing"/],
  ])("reports %s with the error code of the options", async (_, name, message) => {
    await expect(run(name)).rejects.toMatchObject({
      code: "parity_failed",
      message: expect.stringMatching(message),
    });
  });

  it("reports a module that cannot be loaded", async () => {
    const work = runInSubprocess({ module: await functionsFile("const"), name: "echo", args: [] }, OPTIONS);
    await expect(work).rejects.toMatchObject({ code: "parity_failed" });
  });

  it("refuses arguments that cannot be cloned", async () => {
    await expect(run("echo", [() => {}])).rejects.toMatchObject({
      code: "parity_failed",
      message: expect.stringContaining("arguments cannot be sent"),
    });
  });

  it("kills a subprocess that does not answer before the deadline", async () => {
    await expect(run("hang", [], { deadlineMs: 600 })).rejects.toMatchObject({
      code: "parity_failed",
      message: expect.stringContaining("0.01 minutes"),
    });
  });

  it("shows the end of the subprocess's output as the hint", async () => {
    await expect(run("leave", ["out of luck"])).rejects.toMatchObject({ hint: "out of luck" });
  });

  it("kills the subprocess when the signal aborts, and starts no other", async () => {
    const abort = new AbortController();
    const running = join(await temporaryFolder(), "running");
    const call = { module: await functionsFile(), name: "hangAfter", args: [running] };
    const work = runInSubprocess(call, { ...OPTIONS, signal: abort.signal });
    work.catch(() => {});
    await expect.poll(() => existsSync(running)).toBe(true);
    abort.abort(new Error("enough"));
    await expect(work).rejects.toMatchObject({ code: "aborted", cause: { message: "enough" } });
    await expect(runInSubprocess(call, { ...OPTIONS, signal: abort.signal })).rejects.toMatchObject({
      code: "aborted",
    });
  });

  it("leaves no listener behind, neither for signals of the process nor for the caller's", async () => {
    const { signal } = new AbortController();
    const before = process.listeners("SIGINT");
    expect(await run("echo", ["a"], { signal })).toEqual(["a"]);
    const left = () => [
      ...process.listeners("SIGINT").filter((listener) => !before.includes(listener)),
      ...getEventListeners(signal, "abort"),
    ];
    await expect.poll(left).toEqual([]);
  });

  it("ends a subprocess that would not end by itself", async () => {
    const pid = await run<number>("staysAtExit");
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  it("ends a subprocess whose parent was killed", async () => {
    const parent = join(await temporaryFolder(), "parent.ts");
    const call = JSON.stringify({ module: await functionsFile(), name: "hang", args: [] });
    await writeFile(
      parent,
      `import { fork } from "node:child_process";
      const options = { stdio: ["ignore", "ignore", "inherit", "ipc"], serialization: "advanced" };
      fork(${JSON.stringify(join(import.meta.dirname, "entry.ts"))}, options).send(${call});`,
    );
    const wanting = spawn(process.execPath, [parent], { stdio: ["ignore", "ignore", "pipe"] });
    const [pid] = await once(wanting.stderr, "data");
    wanting.kill("SIGKILL");
    await expect.poll(() => isRunning(Number(pid))).toBe(false);
  });
});

describe("an interrupted process", () => {
  it("kills its subprocesses, even while they are busy", async () => {
    const folder = await temporaryFolder();
    const started = join(folder, "started");
    const parent = join(folder, "parent.ts");
    const call = { module: await functionsFile(), name: "spinAfter", args: [started] };
    await writeFile(
      parent,
      `import { runInSubprocess } from ${JSON.stringify(join(import.meta.dirname, "run-in-subprocess.ts"))};
      await runInSubprocess(${JSON.stringify(call)}, ${JSON.stringify(OPTIONS)});`,
    );
    const interrupted = spawn(process.execPath, [parent], { stdio: "ignore" });
    await expect.poll(() => readFile(started, "utf8").catch(() => "")).not.toBe("");
    interrupted.kill("SIGINT");
    expect(await once(interrupted, "exit")).toEqual([null, "SIGINT"]);
    const pid = Number(await readFile(started, "utf8"));
    await expect.poll(() => isRunning(pid)).toBe(false);
  });
});

it("inSubprocess calls the export that has the function's name", async () => {
  const totalLength = (_: readonly string[]) => "not this one";
  expect(await inSubprocess("artifact/total-length", totalLength, OPTIONS)(["ab", "c"])).toBe(3);
});
