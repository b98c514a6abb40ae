import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { type DeployedAssets, deployedAssets } from "#test/fixtures/assets.ts";
import { smallArtifact } from "#test/fixtures/small-artifact.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { pointerKey } from "../artifact/keys.ts";
import { assetsStore } from "./assets.ts";
import { memoryStore } from "./memory.ts";
import { publish } from "./publish.ts";
import { readObject } from "./read-object.ts";

let assets: DeployedAssets;
beforeAll(async () => {
  assets = await deployedAssets("export default { fetch() { return new Response() } }");
});
afterAll(() => assets?.stop());

testStore("assetsStore in workerd", async () => ({
  store: {
    name: "assets",
    open: async (...args) => assetsStore(await assets.deployed(), { prefix: "team a" }).open(...args),
  },
  put: (key, bytes) => assets.folder.put(`team a/${key}`, bytes, { contentType: "application/octet-stream" }),
}));

it("a Worker reads a model whose pointer it imports, although the pointer is not in its assets", async () => {
  const artifact = await smallArtifact();
  const objects = memoryStore();
  const { name, version } = await publish(artifact, objects);
  await using folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-pointer-"));
  await writeFile(join(folder.path, "current.json"), (await readObject(objects, pointerKey(name), 2 ** 16)) ?? "");
  const { outputFiles } = await build({
    stdin: { contents: workerOf(join(folder.path, "current.json")), resolveDir: import.meta.dirname },
    ...{ bundle: true, write: false, format: "esm", conditions: ["workerd", "worker"] },
  });
  const worker = await deployedAssets(outputFiles[0]?.text ?? "");
  onTestFinished(() => worker.stop());
  await publish(artifact, worker.folder);
  await worker.folder.remove(pointerKey(name));
  await worker.deployed();
  const response = await worker.workerd.dispatchFetch("http://worker/");
  expect(await response.json()).toEqual({ version, files: [...artifact.files.keys()] });
});

/** Reads the pointer and all files of the model. */
const workerOf = (pointer: string) => `
  import current from ${JSON.stringify(pointer)} with { type: "json" };
  import { assetsStore } from "./assets.ts";
  import { openPublished, readPointer } from "./published-artifact.ts";

  export default {
    async fetch(request, { ASSETS }) {
      const store = assetsStore(ASSETS, { pointers: [current] });
      const { manifest, version, read } = await openPublished(store, await readPointer(store, current.name));
      const files = Object.keys(manifest.files);
      await Promise.all(files.map(read));
      return Response.json({ version, files });
    },
  };`;
