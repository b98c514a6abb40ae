import { readFileSync, statSync } from "node:fs";
import { builtinModules, isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Limit for the client, minified and gzipped. Measured: 4.5 KB. A schema library would exceed it. */
const CLIENT_GZIP_BYTES = 6_000;
/** Limit for the Worker, minified and gzipped, without the kernels. Measured: 136.4 KB. */
const WORKER_GZIP_BYTES = 138_000;
/** Limit for one build of the kernels. Measured: 17 KB. */
const KERNEL_BYTES = 24_000;
/** Maximum number of lines of a file in functions/. Users edit these files, so each must fit on a screen. */
const ENTRY_LINES = 40;

async function bundle(entry: string): Promise<{ metafile: Metafile; gzipBytes: number }> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    // External modules remain imports, so the metafile lists them.
    external: ["*.wasm", "node:*", "onnxruntime-node", "onnxruntime-web", ...builtinModules],
    metafile: true,
    logLevel: "silent",
  });
  return { metafile, gzipBytes: outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).length, 0) };
}
const inputsOf = ({ inputs }: Metafile) => Object.keys(inputs).map((path) => path.replaceAll("\\", "/"));
const importsOf = ({ inputs }: Metafile) =>
  Object.values(inputs).flatMap(({ imports }) => imports.map(({ path }) => path));

describe("the client, bundled and minified", () => {
  let client: Awaited<ReturnType<typeof bundle>>;
  beforeAll(async () => {
    client = await bundle("sdk/src/client/index.ts");
  });

  it("consists only of the client's files and what the wire needs: vectors, and names of fields", () => {
    expect(inputsOf(client.metafile).length).toBeGreaterThan(1);
    expect(
      inputsOf(client.metafile)
        .filter((path) => !path.startsWith("sdk/src/client/"))
        .sort(),
    ).toEqual(["headers", "javascript", "vector-text"].map((name) => `sdk/src/serve/contract/${name}.ts`));
  });

  it("imports nothing", () => {
    expect(importsOf(client.metafile).filter((path) => !path.startsWith("sdk/src/"))).toEqual([]);
  });

  it(`has at most ${CLIENT_GZIP_BYTES} bytes, gzipped`, () => {
    expect(client.gzipBytes).toBeLessThanOrEqual(CLIENT_GZIP_BYTES);
  });
});

describe("the package's own entry", () => {
  it("names no optional package, which bundlers would search for", async () => {
    const { metafile } = await bundle("sdk/src/index.ts");
    expect(
      importsOf(metafile).filter((path) => /^(onnxruntime-(node|web)|@aws-sdk|@huggingface\/hub)/.test(path)),
    ).toEqual([]);
  });
});

describe("the Worker, bundled", () => {
  let worker: Metafile;
  let gzipBytes: number;
  beforeAll(async () => {
    ({ metafile: worker, gzipBytes } = await bundle("functions/edge.ts"));
  });

  it(`has at most ${WORKER_GZIP_BYTES} bytes, gzipped`, () => {
    expect(gzipBytes).toBeLessThanOrEqual(WORKER_GZIP_BYTES);
  });

  it("contains the edge app, the tokenizer and the engine", () => {
    const inputs = inputsOf(worker);
    for (const part of ["serve/edge-app.js", "@huggingface/tokenizers/", "engine/wasm/index.js"]) {
      expect(inputs.filter((path) => path.includes(part))).not.toEqual([]);
    }
    const kernels = importsOf(worker).filter((path) => path.endsWith(".wasm"));
    expect(kernels.map((path) => path.split("/").at(-1))).toEqual(["relaxed.wasm", "simd.wasm"]);
  });

  it.each(["relaxed", "simd"])(`has %s kernels of at most ${KERNEL_BYTES} bytes`, (build) => {
    expect(statSync(join(root, `sdk/dist/kernels/${build}.wasm`)).size).toBeLessThanOrEqual(KERNEL_BYTES);
  });

  it("evaluates the tokenizer.json reader only for models that need it", () => {
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
    ["the compiler", /sdk\/dist\/(compile|local)\//],
    ["the command line", /sdk\/dist\/cli\//],
    ["the client", /sdk\/dist\/client\//],
    ["stores that need Node", /sdk\/dist\/storage\/(fs|folder-artifact|s3-publisher)\./],
    ["onnxruntime", /onnxruntime-(node|web|common)|ort-(node|web)/],
    ["the AWS SDK", /@aws-sdk\//],
  ])("contains nothing of %s", (_, pattern) => {
    expect(inputsOf(worker).filter((path) => pattern.test(path))).toEqual([]);
  });
});

describe("the Worker for onnxruntime-web, bundled", () => {
  it("contains that engine and no engine of our own", async () => {
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
