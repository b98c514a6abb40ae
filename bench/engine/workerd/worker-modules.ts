import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import type { V4ModuleDefinition } from "miniflare";

/** Names of the Workers in this folder. A Worker is named after its engine; `none` is a Worker without an engine. */
export type WorkerName = "wasm" | "ort-web" | "none";

/** Bundles a Worker into one module, like wrangler, and adds the WebAssembly modules that it imports. */
export async function workerModules(name: WorkerName): Promise<V4ModuleDefinition[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(import.meta.dirname, `${name}-worker.ts`)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    conditions: ["workerd", "worker"],
    define: { "import.meta.url": '"file:///worker.mjs"' },
    external: ["*.wasm"],
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  const { resolve } = createRequire(import.meta.url);
  const compiled = imports.map(async (path): Promise<V4ModuleDefinition> => {
    return { type: "CompiledWasm", path, contents: await readFile(resolve(path)) };
  });
  return [
    { type: "ESModule", path: "worker.js", contents: outputFiles[0]?.text ?? "" },
    ...(await Promise.all(compiled)),
  ];
}
