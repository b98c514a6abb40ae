// Runs the tests of the S3 drivers against S3 servers, in place of the server that the suite has of its own
// (test/fixtures/strict-object-storage.ts): moto and LocalStack from PyPI, and Ceph where it is installed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { commandLine } from "../commands/command-line.ts";
import { type S3Server, servers } from "./servers.ts";

const { values } = commandLine(
  "npm run e2e:s3 -- [--only <part of a name>]\nRuns the tests of the S3 drivers against moto, LocalStack and Ceph.",
  { only: { type: "string", default: "" } },
);

/** Time in which a server must answer, in ms. */
const START_MS = 180_000;

/** Runs the tests against a server. Returns the exit code. */
async function tested({ start }: S3Server): Promise<number> {
  // The path is short: sockets stand in the folder.
  await using folder = await mkdtempDisposable(join(tmpdir(), "s3-"));
  const port = await freePort();
  const stop = await start(folder.path, port);
  try {
    const endpoint = `http://127.0.0.1:${port}`;
    await answering(endpoint);
    const args = ["run", "--project", "unit", "sdk/src/storage/s3-parts.test.ts"];
    const vitest = spawn("vitest", args, { env: { ...process.env, S3_SERVER: endpoint }, stdio: "inherit" });
    const [code] = (await once(vitest, "exit")) as [number | null];
    return code ?? 1;
  } finally {
    await stop();
  }
}

async function answering(url: string): Promise<void> {
  for (const start = Date.now(); Date.now() - start < START_MS; await setTimeout(200)) {
    if (await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)) return;
  }
  throw new Error(`The S3 server did not answer within ${START_MS} ms.`);
}

const results: string[] = [];
for (const server of servers.filter(({ name }) => name.includes(values.only))) {
  const missing = server.missing?.();
  const code = missing === undefined ? await tested(server) : 0;
  results.push(
    `${server.name}: ${missing === undefined ? (code === 0 ? "passed" : "FAILED") : `not tried: ${missing}`}`,
  );
  if (code !== 0) process.exitCode = code;
}
console.log(results.join("\n"));
