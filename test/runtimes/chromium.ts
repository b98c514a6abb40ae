import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const DEADLINE_MS = 50_000;

const page = (expression: string) => `<!doctype html><script type="module">
  import { compiled, digests } from "./digests.mjs";

  const read = async (file) => (await fetch(file)).bytes();
  const outcome = async () => ({ value: await ${expression} });
  const body = JSON.stringify(await outcome().catch(({ stack }) => ({ stack })));
  await fetch("outcome", { method: "POST", body });
</script>`;

/**
 * Evaluates an expression on a page in a headless browser.
 *
 * @param expression may use `read`, `compiled` and `digests`
 */
export async function inChromium(browser: string, folder: string, expression: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const server = createServer(async (request, response) => {
    const file = decodeURIComponent(request.url?.slice(1) ?? "");
    if (request.method === "POST") {
      const outcome = JSON.parse(await text(request)) as { value: unknown } | { stack: string };
      if ("stack" in outcome) reject(new Error(`The page failed: ${outcome.stack}`));
      else resolve(outcome.value);
      response.end();
    } else if (file === "") response.setHeader("content-type", "text/html").end(page(expression));
    else {
      if (/\.m?js$/.test(file)) response.setHeader("content-type", "text/javascript");
      response.end(await readFile(join(folder, file)).catch(() => response.writeHead(404) && ""));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const profile = join(folder, "profile");
  const args = ["--headless", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`, "--no-first-run"];
  const child = spawn(browser, [...args, `http://127.0.0.1:${port}/`], { stdio: "ignore", detached: true });
  child.once("error", reject);
  child.once("exit", (code) =>
    reject(new Error(`${browser} stopped with exit code ${code} before its page was done.`)),
  );
  const deadline = setTimeout(() => reject(new Error(`The page took more than ${DEADLINE_MS} ms.`)), DEADLINE_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(deadline);
    // Kill the process group, because a browser has many processes.
    if (child.pid !== undefined && child.exitCode === null) {
      const ended = once(child, "exit");
      process.kill(-child.pid, "SIGKILL");
      await ended;
    }
    server.closeAllConnections();
    server.close();
  }
}
