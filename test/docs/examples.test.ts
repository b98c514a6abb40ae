import { globSync, readFileSync } from "node:fs";
import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assetsPublisher } from "#sdk/storage/assets-publisher.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { publish } from "#sdk/storage/publish.ts";
import manifest from "../../sdk/package.json" with { type: "json" };
import { prepared } from "../fixtures/prepared.ts";
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { checkTypes, installedProject, runNode } from "../package/install.ts";
import { fencesOf } from "./fences.ts";

// `ts` and `js` examples are type-checked and run in a project that has the packed sdk, an artifact in ./artifact, published in ./public, and a
// deployment at http://127.0.0.1:8787. With `no-run` they are only type-checked. `"<key>"` stands for an API key.
const pages = ["README.md", "sdk/README.md", ...globSync("docs/*.md")];
const fences = pages.flatMap(fencesOf);
const scripts = fences
  .filter(({ language }) => language === "ts" || language === "js")
  .map((fence) => ({ ...fence, file: `${fence.place.replace(/\W/g, "-")}.${fence.language}` }));
const runnable = scripts.filter(({ attributes }) => !attributes.includes("no-run"));

/** Module that the process of the examples imports first. It replaces `fetch`: an edge app answers requests to 127.0.0.1:8787. */
const deployment = `
import { readFile } from "node:fs/promises";
import { openFolder, publish } from "bert-edge";
import { wasmEngine } from "bert-edge/engine/wasm";
import { createEdgeApp } from "bert-edge/serve";
import { memoryStore } from "bert-edge/storage/memory";

const simd = await WebAssembly.compile(await readFile("node_modules/bert-edge/dist/kernels/simd.wasm"));
const models = memoryStore();
await publish(await openFolder("./artifact"), models);
const app = createEdgeApp({ models, model: "bert-edge-mini", engine: wasmEngine({ simd }), keys: ["key"] });
// Examples have budgets of a few milliseconds. The clock stands still, as that of deployed Workers during a computation.
const stopped = performance.now();
performance.now = () => stopped;
const send = fetch;
globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  return request.url.startsWith("http://127.0.0.1:8787/") ? app.fetch(request, {}) : send(request);
};
`;

/** Script that runs the examples, one after the other, in one process. Prints the errors by file as its last line. */
const runner = `
const errors = {};
for (const file of process.argv.slice(2)) await import(file).catch((error) => (errors[file] = String(error?.stack)));
console.log(\`\n\${JSON.stringify(errors)}\`);
`;

describe("the examples of the docs", () => {
  let folder: string;
  let errors: Record<string, string>;
  beforeAll(async () => {
    folder = await installedProject({ peers: true });
    const model = join(folder, "my-model");
    await writePreparableCheckpoint(model);
    const artifact = await prepared({ model, name: "bert-edge-mini", targets: ["edge"], timingRounds: 1 });
    await cp(artifact, join(folder, "artifact"), { recursive: true });
    await publish(await openFolder(artifact), assetsPublisher(join(folder, "public")));
    await writeFile(join(folder, "deployment.mjs"), deployment);
    for (const { file, code } of scripts) await writeFile(join(folder, file), code.replaceAll('"<key>"', '"key"'));
    await writeFile(join(folder, "runner.mjs"), runner);
    const args = ["--import", "./deployment.mjs", "runner.mjs", ...runnable.map(({ file }) => `./${file}`)];
    errors = JSON.parse((await runNode(folder, args)).trimEnd().split("\n").at(-1) ?? "");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("have the right types", () => checkTypes(folder));

  it.each(runnable)("run: $place", ({ file }) => expect(errors[`./${file}`]).toBeUndefined());
});

describe("the import paths of the docs", () => {
  it("are entries of the package", () => {
    const known = new Set(Object.keys(manifest.exports).map((path) => path.replace(".", "bert-edge")));
    const named = pages.flatMap(
      (page) => readFileSync(page, "utf8").match(/(?<=[`"])bert-edge\/[\w./-]+(?=[`"])/g) ?? [],
    );
    expect(named.filter((path) => !known.has(path))).toEqual([]);
    expect(named.length).toBeGreaterThan(3);
  });
});
