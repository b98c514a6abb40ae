import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const POOL_THREAD = "src/runtime/engine/wasm-pool/node/worker.ts";

/**
 * Writes the modules `#embedded/*` of a build. Bundlers take modules along, but no files that a program opens by their paths. Each module
 * exports a string: the kernels in base64, or the program of a thread as CommonJS.
 */
export async function buildEmbedded(built: string): Promise<void> {
  await mkdir(join(built, "embedded"), { recursive: true });
  const write = (name: string, content: string) =>
    writeFile(join(built, "embedded", `${name}.js`), `export default ${JSON.stringify(content)};\n`);
  const kernels = ["relaxed", "simd", "add-product"].map(async (name) =>
    write(name, await readFile(join(built, `kernels/${name}.wasm`), "base64")),
  );
  await Promise.all([...kernels, write("pool-thread", await poolThread())]);
}

async function poolThread(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [POOL_THREAD],
    bundle: true,
    minify: true,
    write: false,
    platform: "node",
    format: "cjs",
    target: "node22",
    logLevel: "warning",
  });
  return outputFiles.map(({ text }) => text).join("");
}
