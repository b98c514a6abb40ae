import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import manifest from "../../sdk/package.json" with { type: "json" };
import { writePreparableCheckpoint } from "../fixtures/tiny-bert.ts";
import { checkTypes, installedProject, runNode } from "../package/install.ts";
import { fencesOf } from "./fences.ts";

// `ts` and `js` examples are type-checked and run in a project that has the packed sdk, an artifact in ./artifact and a
// deployment at http://127.0.0.1:8787. With `no-run` they are only type-checked. `"<key>"` stands for an API key.
// Lines of `sh` examples that call bert-edge are compared with the help of the command.
const pages = ["README.md", "sdk/README.md", ...globSync("docs/*.md")];
const fences = pages.flatMap(fencesOf);
const scripts = fences
  .filter(({ language }) => language === "ts" || language === "js")
  .map((fence) => ({ ...fence, file: `${fence.place.replace(/\W/g, "-")}.${fence.language}` }));

/** Module that each example imports first. It replaces `fetch`: an edge app answers requests to 127.0.0.1:8787. */
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
const send = fetch;
globalThis.fetch = (input, init) => {
  const request = new Request(input, init);
  return request.url.startsWith("http://127.0.0.1:8787/") ? app.fetch(request, {}) : send(request);
};
`;

describe("the examples of the docs", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await installedProject({ peers: true });
    await writePreparableCheckpoint(join(folder, "my-model"));
    await prepare({
      model: join(folder, "my-model"),
      out: join(folder, "artifact"),
      name: "bert-edge-mini",
      targets: ["edge"],
    });
    await writeFile(join(folder, "deployment.mjs"), deployment);
    for (const { file, code } of scripts) await writeFile(join(folder, file), code.replaceAll('"<key>"', '"key"'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("have the right types", () => checkTypes(folder));

  it.each(scripts.filter(({ attributes }) => !attributes.includes("no-run")))("run: $place", async ({ file }) => {
    await runNode(folder, ["--import", "./deployment.mjs", file]);
  });
});

describe("the commands of the docs", () => {
  const lines = fences
    .filter(({ language }) => language === "sh")
    .flatMap(({ place, code }) =>
      [...code.matchAll(/bert-edge (keys \w+|\w+)([^#\n|]*)/g)].map(([, command = "", rest = ""]) => ({
        place,
        command,
        rest,
      })),
    );

  it.each(lines)("exist, with their options: $place bert-edge $command", ({ command, rest }) => {
    const help = execFileSync(process.execPath, ["sdk/bin/bert-edge.js", ...command.split(" "), "--help"], {
      encoding: "utf8",
    });
    for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(help).toContain(`${option} `);
  });
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
