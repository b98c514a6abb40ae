import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { freePort, startService } from "./process.ts";

async function listenOn(port: number): Promise<void> {
  const server = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
}

/** Returns the script of a server that also starts a second server, as wrangler starts workerd. */
const parent = (port: number, childPort: number) => `
  import { spawn } from "node:child_process";
  import { createServer } from "node:http";
  const serve = "require('node:http').createServer((_, r) => r.end()).listen(${childPort}, '127.0.0.1')";
  spawn(process.execPath, ["-e", serve], { stdio: "ignore" });
  createServer((_, response) => response.end()).listen(${port}, "127.0.0.1");
`;

const answers = (url: string) =>
  fetch(url).then(
    () => true,
    () => false,
  );

describe("freePort", () => {
  it("returns the preferred port if it is free, otherwise another one", async () => {
    const port = await freePort();
    expect(await freePort(port)).toBe(port);
    await listenOn(port);
    const other = await freePort(port);
    expect(other).not.toBe(port);
    expect(other).toBeGreaterThan(0);
  });
});

describe("startService", () => {
  it("waits until the service answers, and stops it together with its subprocesses", async () => {
    const folder = await temporaryFolder();
    const [port, childPort] = [await freePort(), await freePort()];
    const [url, childURL] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${childPort}`];
    await writeFile(join(folder, "service.mjs"), parent(port, childPort));
    const ready = { url, withinMs: 20_000 };
    const service = await startService({ name: "parent", script: "service.mjs", cwd: folder, ready });
    expect(await answers(url)).toBe(true);
    await expect.poll(() => answers(childURL), { timeout: 20_000 }).toBe(true);
    await service.stop();
    await service.ended;
    expect(await answers(url)).toBe(false);
    await expect.poll(() => answers(childURL), { timeout: 20_000 }).toBe(false);
  });

  it("tells when a service ends by itself", async () => {
    const folder = await temporaryFolder();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = `createServer((request, response) => {
      response.end();
      if (request.url === "/end") process.exit(3);
    }).listen(${port}, "127.0.0.1")`;
    await writeFile(join(folder, "service.mjs"), `import { createServer } from "node:http";\n${server};`);
    const ready = { url, withinMs: 20_000 };
    const service = await startService({ name: "short", script: "service.mjs", cwd: folder, ready });
    await answers(`${url}/end`);
    await service.ended;
    await service.stop();
  });

  it("shows the output of a service that ends while starting", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "service.mjs"), 'console.error("no such model"); process.exit(3);');
    const starting = startService({
      name: "broken",
      script: "service.mjs",
      cwd: folder,
      ready: { url: `http://127.0.0.1:${await freePort()}`, withinMs: 20_000 },
    });
    await expect(starting).rejects.toMatchObject({
      code: "service_failed",
      message: expect.stringMatching(/^broken ended while starting:.*no such model/s),
    });
  });

  it("gives up on a service that never answers, and stops it", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "service.mjs"), "setInterval(() => {}, 1000);");
    const starting = startService({
      name: "silent",
      script: "service.mjs",
      cwd: folder,
      ready: { url: `http://127.0.0.1:${await freePort()}`, withinMs: 300 },
    });
    await expect(starting).rejects.toMatchObject({ message: expect.stringContaining("silent did not answer") });
  });
});
