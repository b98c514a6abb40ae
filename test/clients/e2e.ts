// Installs other projects' clients from the npm registry into an empty folder, and runs them with their default settings
// against the edge, in workerd, and against the region.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import { ortNodeEngine } from "#sdk/runtime/engine/ort-node/index.ts";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { r2Publisher, type WritableR2Bucket } from "#sdk/storage/r2-publisher.ts";
import { writePreparableClassifier, writePreparableHead } from "../fixtures/classifier-case.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { workerModules } from "../fixtures/worker-modules.ts";

const NAME = "bert-edge-mini";
const KEY = "key";
const packages = [
  ...["openai", "ai", "@ai-sdk/openai", "@langchain/openai", "@langchain/core", "@llamaindex/openai"],
  ...["@huggingface/inference", "cohere-ai"],
];
/** Models of other tasks that both tiers serve too, and how a checkpoint for each is written. */
const OTHERS: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  topics: (folder) => writePreparableClassifier(folder, ["no", "maybe", "yes"]),
  people: (folder) => writePreparableHead(folder, "token-classification"),
  facts: (folder) => writePreparableHead(folder, "question-answering"),
  words: (folder) => writePreparableHead(folder, "masked-lm"),
};
const MODELS = [NAME, ...Object.keys(OTHERS)];

const folder = await mkdtemp(join(tmpdir(), "bert-edge-clients-"));
const [model, out] = [join(folder, "checkpoint"), join(folder, "artifact")];
await writePreparableCheckpoint(model);
await prepare({ model, out, name: NAME, targets: ["edge", "regional-cpu"] });
const artifacts = [await openFolder(out)];
for (const [name, write] of Object.entries(OTHERS)) {
  const [checkpoint, prepared] = [join(folder, name), join(folder, `${name}-artifact`)];
  await write(checkpoint);
  // A masked language model is prepared as a sentence encoder by default.
  const task = name === "words" ? "fill-mask" : undefined;
  await prepare({ model: checkpoint, out: prepared, name, task, targets: ["edge", "regional-cpu"] });
  artifacts.push(await openFolder(prepared));
}

const edge = new Miniflare(
  convertV4MiniflareOptions({
    modules: await workerModules({ entryPoints: ["functions/edge.ts"] }),
    modulesRoot: "/",
    compatibilityDate: "2026-11-01",
    bindings: { MODEL: MODELS.join(","), API_KEYS: KEY },
    r2Buckets: ["MODELS"],
    host: "127.0.0.1",
    port: 0,
  }),
);
const edgeURL = (await edge.ready).origin;
const bucket = r2Publisher((await edge.getR2Bucket("MODELS")) as unknown as WritableR2Bucket);
for (const artifact of artifacts) await publish(artifact, bucket);

const models = memoryStore();
for (const artifact of artifacts) await publish(artifact, models);
const app = createRegionApp({ models, model: MODELS, engine: ortNodeEngine(), keys: [KEY] });
const listening = Promise.withResolvers<AddressInfo>();
const region = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, listening.resolve);
const regionURL = `http://127.0.0.1:${(await listening.promise).port}`;

try {
  // The servers run in this process, so it must not wait synchronously.
  const run = async (command: string, ...args: string[]) => {
    const [code] = await once(spawn(command, args, { cwd: folder, stdio: "inherit" }), "exit");
    if (code !== 0) throw new Error(`${command} ${args[0]} ended with exit code ${code}.`);
  };
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await run("npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...packages);
  for (const script of ["clients.js", "dialects.js"])
    await copyFile(join(import.meta.dirname, script), join(folder, script));
  for (const [tier, url] of [
    ["edge", edgeURL],
    ["region", regionURL],
  ] as const) {
    console.log(tier);
    await run(process.execPath, "clients.js", `${url}/v1`, KEY, NAME);
    await run(process.execPath, "dialects.js", url, KEY, NAME);
  }
} finally {
  region.close();
  await edge.dispose();
  await rm(folder, { recursive: true, force: true });
}
