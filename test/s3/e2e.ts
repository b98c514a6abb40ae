// Installs moto, an S3 server from PyPI, into a virtual environment, and runs the tests of the S3 drivers against it, in
// place of the server that the suite has of its own (test/fixtures/strict-object-storage.ts).
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { freePort } from "#sdk/cli/dev/process.ts";
import { commandLine } from "../commands/command-line.ts";
import { pythonWith } from "../fixtures/python-with.ts";

commandLine("npm run e2e:s3\nRuns the tests of the S3 drivers against moto, from PyPI.");

/** Time in which the server must answer, in ms. */
const START_MS = 60_000;

const folder = await mkdtemp(join(tmpdir(), "bert-edge-s3-"));
const ended = Promise.withResolvers<void>();
try {
  const python = await pythonWith(folder, ["moto[s3,server]"]);
  const port = await freePort();
  const server = spawn(python, ["-m", "moto.server", "-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  server.once("exit", () => ended.resolve());
  try {
    const endpoint = `http://127.0.0.1:${port}`;
    await answering(endpoint);
    const vitest = spawn("vitest", ["run", "--project", "unit", "sdk/src/storage/s3-parts.test.ts"], {
      env: { ...process.env, S3_SERVER: endpoint },
      stdio: "inherit",
    });
    process.exitCode = await new Promise<number>((resolve) => vitest.once("exit", (code) => resolve(code ?? 1)));
  } finally {
    server.kill();
    await ended.promise;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function answering(url: string): Promise<void> {
  for (const start = Date.now(); Date.now() - start < START_MS; await setTimeout(200)) {
    if (await fetch(url, { signal: AbortSignal.timeout(1000) }).catch(() => undefined)) return;
  }
  throw new Error(`The S3 server did not answer within ${START_MS} ms.`);
}
