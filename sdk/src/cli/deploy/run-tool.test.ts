import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { runTool } from "./run-tool.ts";

async function tool(source: string) {
  const cwd = await temporaryFolder();
  const script = join(cwd, "tool.cjs");
  await writeFile(script, source);
  return { name: "tool", script, cwd, env: { GREETING: "hello" } };
}

it("returns what a tool writes, and passes on stdin and environment", async () => {
  const echo = await tool(`
    process.stdout.write(process.env.GREETING + require("node:fs").readFileSync(0, "utf8") + process.argv[2]);
    process.stderr.write("note");
    process.exitCode = 3;
  `);
  const output = await runTool(echo, ["!"], { stdin: " you", timeoutMs: 30_000 });
  expect(output).toEqual({ code: 3, stdout: "hello you!", stderr: "note" });
});

it("ends a tool that takes too long, with the processes that it has started", async () => {
  const server = `
    const server = require("node:http").createServer((_, response) => response.end()).listen(0, "127.0.0.1", () => {
      require("node:fs").writeFileSync("port", String(server.address().port));
    });
  `;
  const slow = await tool(`
    const { spawn } = require("node:child_process");
    spawn(process.execPath, ["-e", ${JSON.stringify(server)}], { stdio: ["ignore", "inherit", "inherit"] });
    setInterval(() => {}, 1000);
  `);
  const answers = async () => {
    const port = await readFile(join(slow.cwd, "port"), "utf8").catch(() => "1");
    return fetch(`http://127.0.0.1:${port}`).then(
      () => true,
      () => false,
    );
  };
  const timers = vi.spyOn(globalThis, "setTimeout");
  const running = runTool(slow, ["wait"], { timeoutMs: 60_000 });
  const [[expire, ms] = []] = timers.mock.calls;
  timers.mockRestore();
  const ended = expect(running).rejects.toMatchObject({
    code: "deploy_failed",
    message: "tool wait did not end within 60 s.",
  });
  await expect.poll(answers).toBe(true);
  expect(ms).toBe(60_000);
  expire?.();
  await ended;
  await expect.poll(answers).toBe(false);
});
