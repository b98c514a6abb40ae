import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "#sdk/cli/dev/ports.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import { preparedDefault } from "../fixtures/prepared.ts";
import { startPost } from "../fixtures/start-post.ts";

/** Enough texts that the request still runs when SIGTERM arrives. */
const inputs = Array.from({ length: 40 }, (_, i) => `${i} ${"to be or not to be ".repeat(20)}`);

describe("the region after SIGTERM", () => {
  const key = crypto.randomUUID();
  let models: string;
  let model: string;
  let child: ChildProcess | undefined;

  beforeAll(async () => {
    models = await mkdtemp(join(tmpdir(), "bert-edge-drain-"));
    const artifact = await openFolder(await preparedDefault());
    await publish(artifact, fsStore(models));
    model = artifact.manifest.name;
  });

  afterAll(() => rm(models, { recursive: true, force: true }));
  afterEach(() => child?.kill("SIGKILL"));

  async function start(env: Record<string, string> = {}) {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const region = spawn(process.execPath, ["functions/region.ts"], {
      env: {
        ...process.env,
        PROVIDERS: "cpu",
        PORT: `${port}`,
        API_KEYS: key,
        MODEL: model,
        MODELS_FOLDER: models,
        ...env,
      },
      stdio: "ignore",
    });
    child = region;
    const status = () =>
      fetch(`${url}/ready`).then(
        (r) => r.status,
        () => 0,
      );
    while ((await status()) !== 200) await delay(50);
    const agent = new Agent({ keepAlive: true });
    const embed = () =>
      startPost(`${url}/v1/embed`, {
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ inputs, truncate: true, encoding_format: "base64" }),
        agent,
      });
    return { region, url, embed, exited: once(region, "exit") };
  }

  it("answers all running requests, closes their connections and exits with 0", async () => {
    const { region, url, embed, exited } = await start();
    const posts = Array.from({ length: 4 }, embed);
    await Promise.all(posts.map(({ sent }) => sent));
    // A region that answers this request has read the earlier ones.
    await (await fetch(`${url}/health`)).arrayBuffer();
    region.kill("SIGTERM");
    const replies = await Promise.all(posts.map(({ reply }) => reply));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(replies.map(({ headers }) => headers.connection)).toEqual(["close", "close", "close", "close"]);
    expect(await exited).toEqual([0, null]);
  });

  it("accepts connections during STOP_DELAY_MS, while /ready answers 503", async () => {
    const { region, url, exited } = await start({ STOP_DELAY_MS: "1500" });
    region.kill("SIGTERM");
    await delay(200);
    expect((await fetch(`${url}/ready`)).status).toBe(503);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect(await exited).toEqual([0, null]);
    await expect(fetch(`${url}/health`)).rejects.toThrow();
  });

  it("exits at once with 1 after a second SIGTERM", async () => {
    const { region, exited } = await start({ STOP_DELAY_MS: "20000" });
    region.kill("SIGTERM");
    await delay(200);
    region.kill("SIGTERM");
    expect(await exited).toEqual([1, null]);
  });
});
