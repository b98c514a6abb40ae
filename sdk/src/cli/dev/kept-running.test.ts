import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { keptRunning } from "./kept-running.ts";
import { freePort } from "./ports.ts";

const WAIT = { timeout: 30_000 };
const PAUSES_MS = [1, 2];

/** A server that answers its process id, and ends when it is asked for `/end`. It ends at once if there is a file `broken`. */
const script = (port: number) => `
  import { existsSync } from "node:fs";
  import { createServer } from "node:http";
  if (existsSync("broken")) process.exit(1);
  createServer((request, response) => {
    response.end(String(process.pid), () => request.url === "/end" && process.exit());
  }).listen(${port}, "127.0.0.1");`;

async function started() {
  const folder = await temporaryFolder();
  const url = `http://127.0.0.1:${await freePort()}`;
  await writeFile(join(folder, "service.mjs"), script(Number(new URL(url).port)));
  const lines: string[] = [];
  const service = await keptRunning({
    ...{ name: "region", script: "service.mjs", cwd: folder, pausesMs: PAUSES_MS },
    ready: { url, withinMs: 20_000 },
    onOutput: (line) => lines.push(line),
  });
  onTestFinished(() => service.stop());
  const pid = (path = "") =>
    fetch(url + path, { headers: { connection: "close" } }).then(
      async (answer) => Number(await answer.text()),
      () => undefined,
    );
  return { folder, lines, service, pid };
}

describe("keptRunning", () => {
  it("starts a process again that was killed, and one that has ended", async () => {
    const { lines, pid } = await started();
    const first = (await pid()) as number;
    process.kill(first, "SIGKILL");
    await expect.poll(async () => ![undefined, first].includes(await pid()), WAIT).toBe(true);
    expect(lines).toContain("The region has ended. It starts again in 0.001 s.");
    const second = await pid("/end");
    await expect.poll(async () => ![undefined, first, second].includes(await pid()), WAIT).toBe(true);
    expect(lines).toContain("The region has ended. It starts again in 0.002 s.");
  });

  it("says what to do when it ends again and again, and starts it when its code changes", async () => {
    const { folder, lines, pid } = await started();
    await writeFile(join(folder, "broken"), "");
    await pid("/end");
    const said = "The region has ended 3 times. Correct its code: it starts again when one of its files changes.";
    await expect.poll(() => lines, WAIT).toContain(said);
    expect(await pid()).toBeUndefined();
    await writeFile(join(folder, "service.mjs"), script(await freePort()).replace('existsSync("broken")', "false"));
    await appendFile(join(folder, "service.mjs"), "\nconsole.log('corrected');");
    await expect.poll(() => lines, WAIT).toContain("corrected");
  });

  it("starts nothing again after it was stopped", async () => {
    const { lines, service, pid } = await started();
    await service.stop();
    await service.ended;
    expect(await pid()).toBeUndefined();
    expect(lines.filter((line) => line.includes("starts again"))).toEqual([]);
  });

  it("fails as other services do when it cannot start", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "service.mjs"), "throw new Error('no model');");
    const ready = { url: `http://127.0.0.1:${await freePort()}`, withinMs: 20_000 };
    const starting = keptRunning({ name: "region", script: "service.mjs", cwd: folder, ready });
    await expect(starting).rejects.toMatchObject({
      code: "service_failed",
      message: expect.stringContaining("no model"),
    });
  });
});
