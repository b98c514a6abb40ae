import { readFileSync, statSync } from "node:fs";
import { builtinModules, isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Metafile } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Measured 2.5 KB; a schema library or a second copy of the contract would not fit. */
const CLIENT_BYTES = 6_000;
/** They only wire: what a user changes fits on a screen. */
const ENTRY_LINES = 40;
/** Of one build of the kernels: measured 17 KB. */
const KERNEL_BYTES = 24_000;

async function bundle(entry: string): Promise<{ metafile: Metafile; bytes: number }> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    // Left as imports, to be seen in the metafile.
    external: ["*.wasm", "node:*", ...builtinModules],
    metafile: true,
    logLevel: "silent",
  });
  return { metafile, bytes: outputFiles.reduce((sum, { contents }) => sum + contents.length, 0) };
}
const inputsOf = ({ inputs }: Metafile) => Object.keys(inputs).map((path) => path.replaceAll("\\", "/"));
const importsOf = ({ inputs }: Metafile) =>
  Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path));

describe("the client, bundled and minified", () => {
  let client: Awaited<ReturnType<typeof bundle>>;
  beforeAll(async () => {
    client = await bundle("sdk/src/client/index.ts");
  });

  it("is made of the client's files only", () => {
    expect(inputsOf(client.metafile).length).toBeGreaterThan(1);
    expect(inputsOf(client.metafile).filter((path) => !path.startsWith("sdk/src/client/"))).toEqual([]);
  });

  it("imports nothing", () => {
    expect(importsOf(client.metafile).filter((path) => !path.startsWith("sdk/src/client/"))).toEqual([]);
  });

  it(`is smaller than ${CLIENT_BYTES} bytes`, () => {
    expect(client.bytes).toBeLessThan(CLIENT_BYTES);
  });
});

describe("the package's own entry", () => {
  it("needs no package that a user may leave out", async () => {
    const { metafile } = await bundle("sdk/src/index.ts");
    const packages = inputsOf(metafile).filter((path) => path.includes("node_modules/"));
    expect(packages.filter((path) => !path.includes("node_modules/valibot/"))).toEqual([]);
  });
});

describe("the Worker, bundled", () => {
  let worker: Metafile;
  beforeAll(async () => {
    worker = (await bundle("functions/edge.ts")).metafile;
  });

  it("has the edge app, the tokenizer and the engine in it", () => {
    const inputs = inputsOf(worker);
    for (const part of ["serve/edge-app.js", "@huggingface/tokenizers/", "engine/wasm/index.js"]) {
      expect(inputs.filter((path) => path.includes(part))).not.toEqual([]);
    }
    const kernels = importsOf(worker).filter((path) => path.endsWith(".wasm"));
    expect(kernels.map((path) => path.split("/").at(-1))).toEqual(["relaxed.wasm", "simd.wasm"]);
  });

  it.each(["relaxed", "simd"])(`has kernels of at most ${KERNEL_BYTES} bytes, %s`, (build) => {
    expect(statSync(join(root, `sdk/dist/kernels/${build}.wasm`)).size).toBeLessThanOrEqual(KERNEL_BYTES);
  });

  it("evaluates what reads tokenizer.json for models that have one only", () => {
    const importers = (of: string) =>
      Object.entries(worker.inputs).flatMap(([from, { imports }]) =>
        imports.filter(({ path }) => path.includes(of) && !from.includes(of)).map(({ kind }) => ({ from, kind })),
      );
    const reader = "runtime/tokenizer/json-tokenizer.js";
    expect(importers("@huggingface/tokenizers/")).toMatchObject([{ from: expect.stringContaining(reader) }]);
    expect(importers(reader)).toMatchObject([{ kind: "dynamic-import" }]);
  });

  it("imports no Node built-in", () => {
    expect(importsOf(worker).filter(isBuiltin)).toEqual([]);
  });

  it.each([
    ["preparing models", /sdk\/dist\/build\//],
    ["the command line", /sdk\/dist\/cli\//],
    ["the client", /sdk\/dist\/client\//],
    ["stores that need Node", /sdk\/dist\/storage\/(fs|folder-artifact|s3-publisher)\./],
    ["onnxruntime", /onnxruntime-(node|web|common)|ort-(node|web)/],
    ["the AWS SDK", /@aws-sdk\//],
  ])("has nothing of %s in it", (_, pattern) => {
    expect(inputsOf(worker).filter((path) => pattern.test(path))).toEqual([]);
  });
});

describe("the Worker for onnxruntime-web, bundled", () => {
  it("has that engine in it, and nothing of our own", async () => {
    const { metafile } = await bundle("functions/edge-ort-web.ts");
    expect(inputsOf(metafile).filter((path) => path.includes("engine/ort-web/index.js"))).not.toEqual([]);
    expect(inputsOf(metafile).filter((path) => path.includes("engine/wasm/"))).toEqual([]);
    const imported = importsOf(metafile).filter((path) => path.endsWith(".wasm"));
    expect(imported.map((path) => path.split("/").at(-1))).toEqual(["ort-wasm-simd-threaded.wasm"]);
  });
});

describe("the files under functions/", () => {
  it.each(["edge.ts", "edge-ort-web.ts", "edge-settings.ts", "region.ts"])(
    `%s has at most ${ENTRY_LINES} lines`,
    (file) => {
      const lines = readFileSync(`${root}/functions/${file}`, "utf8").trimEnd().split("\n");
      expect(lines.length).toBeLessThanOrEqual(ENTRY_LINES);
    },
  );
});
