import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { freePort } from "./ports.ts";
import { startService } from "./service.ts";

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

  it("stops waiting when the code cannot be built, and shows the fault", async () => {
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, "service.mjs"),
      'console.error("Build failed with 1 error:\\n  no such file"); setInterval(() => {}, 1000);',
    );
    const ready = { url: `http://127.0.0.1:${await freePort()}`, withinMs: 60_000 };
    const starting = startService({ name: "edge", script: "service.mjs", cwd: folder, ready });
    await expect(starting).rejects.toMatchObject({
      code: "service_failed",
      message: expect.stringMatching(/^edge cannot be built:\n.*no such file$/s),
    });
  });

  it.each([404, 400])(
    "stops waiting for a service that answers %d, and says that it has no such route",
    async (status) => {
      const folder = await temporaryFolder();
      const port = await freePort();
      await writeFile(
        join(folder, "service.mjs"),
        `import { createServer } from "node:http";
      createServer((_, response) => response.writeHead(${status}).end()).listen(${port}, "127.0.0.1");`,
      );
      const absent = (answered: number) => ({ message: `It answers ${answered}.`, hint: "Add it." });
      const ready = { url: `http://127.0.0.1:${port}/ready`, status: 200, withinMs: 60_000, absent };
      const starting = startService({ name: "edge", script: "service.mjs", cwd: folder, ready });
      await expect(starting).rejects.toMatchObject({ code: "service_failed", ...absent(status) });
    },
  );

  describe("while the service answers with errors", () => {
    /** Starts a service that prints each request, and answers with these errors, one after the other. Then it is ready. */
    async function startFailing(errors: readonly object[], lines: string[] = []) {
      const folder = await temporaryFolder();
      const port = await freePort();
      const script = `
        import { createServer } from "node:http";
        const errors = ${JSON.stringify(errors)};
        createServer((request, response) => {
          console.log("GET /ready 503 Service Unavailable");
          const error = errors.shift();
          if (!error) console.log("one\\ntwo");
          const headers = error?.code === "model_unavailable" ? {} : { "x-should-retry": "false" };
          response.writeHead(error ? 503 : 200, headers).end(JSON.stringify({ error }));
        }).listen(${port}, "127.0.0.1");`;
      await writeFile(join(folder, "service.mjs"), script);
      const ready = { url: `http://127.0.0.1:${port}/ready`, status: 200, withinMs: 60_000 };
      const onOutput = (line: string) => lines.push(line);
      const service = await startService({ name: "edge", script: "service.mjs", cwd: folder, ready, onOutput });
      onTestFinished(() => service.stop());
    }
    const temporary = { code: "model_unavailable", message: "The model cannot be loaded now." };
    const lasting = { code: "setting_invalid", message: "REGION_URL is wrong.", hint: "Set it." };

    it("waits while they are temporary, and passes on lines without the log of its own requests", async () => {
      const lines: string[] = [];
      await startFailing([temporary, temporary], lines);
      await expect.poll(() => lines).toEqual(["one", "two"]);
    });

    it("throws an error that waiting does not change", async () => {
      await expect(startFailing([temporary, lasting])).rejects.toMatchObject({
        code: "setting_invalid",
        message: "edge cannot start: REGION_URL is wrong.",
        hint: "Set it.",
      });
    });

    it("shows the output when every request fails", async () => {
      await expect(startFailing([{ code: "internal", message: "A bug." }])).rejects.toMatchObject({
        code: "service_failed",
        message: expect.stringMatching(/^edge answers every request with an error:/),
      });
    });
  });
});
