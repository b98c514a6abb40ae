import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { build } from "esbuild";
import type { V4ModuleDefinition } from "miniflare";
import type { Objects } from "./uploads.ts";

/**
 * Names of the Workers in this folder. A Worker is named after its engine; `none` is a Worker without an engine, and `uploaded` has objects
 * of the model's store in its code.
 */
export type WorkerName = "wasm" | "ort-web" | "none" | "uploaded";

/** Bundles a Worker into one module, like wrangler, and adds the WebAssembly modules that it imports, and objects. */
export async function workerModules(name: WorkerName, objects: Objects = new Map()): Promise<V4ModuleDefinition[]> {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(import.meta.dirname, `${name}-worker.ts`)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    conditions: ["workerd", "worker"],
    define: { "import.meta.url": '"file:///worker.mjs"' },
    external: ["*.wasm", OBJECTS],
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  const { resolve } = createRequire(import.meta.url);
  const compiled = imports
    .filter((path) => path !== OBJECTS)
    .map(async (path): Promise<V4ModuleDefinition> => {
      return { type: "CompiledWasm", path, contents: await readFile(resolve(path)) };
    });
  return [
    { type: "ESModule", path: "worker.js", contents: outputFiles[0]?.text ?? "" },
    ...(await Promise.all(compiled)),
    ...objectModules(objects),
  ];
}

const OBJECTS = "./objects.js";

/** Returns a module with objects by key, and the modules of data that it imports. */
function objectModules(objects: Objects): V4ModuleDefinition[] {
  const [keys, all] = [[...objects.keys()], [...objects.values()]];
  const imports = all.map((_, i) => `import data${i} from "./data${i}.bin";`).join("\n");
  const entries = keys.map((key, i) => `${JSON.stringify(key)}: data${i}`);
  return [
    { type: "ESModule", path: "objects.js", contents: `${imports}\nexport default { ${entries} };` },
    ...all.map((contents, i): V4ModuleDefinition => ({ type: "Data", path: `data${i}.bin`, contents })),
  ];
}
