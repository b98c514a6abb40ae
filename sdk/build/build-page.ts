import { copyFile, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

const SOURCE = "page";

/** Resolves the package's own entries to a folder with a new build, instead of `dist`. */
const ownEntries = (built: string): Plugin => ({
  name: "own-entries",
  setup(esbuild) {
    esbuild.onResolve({ filter: /^bert-edge\// }, async ({ path }) => {
      const { exports } = JSON.parse(await readFile("package.json", "utf8")) as {
        exports: Record<string, { default: string }>;
      };
      const target = exports[path.replace("bert-edge", ".")]?.default;
      return target
        ? { path: resolve(target.replace(/^\.\/dist/, built)) }
        : { errors: [{ text: `no entry ${path}` }] };
    });
  },
});

/**
 * Bundles the page that deployments show at `/` into the folder `page` of a build.
 *
 * @param built folder with the compiled sources and kernels
 */
export async function buildPage(built: string): Promise<void> {
  const out = join(built, SOURCE);
  await build({
    entryPoints: [`${SOURCE}/main.ts`, `${SOURCE}/style.css`],
    outdir: out,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2024",
    // The engine is loaded only where the model runs in the browser.
    splitting: true,
    // Other engines and tokenizer libraries are never needed: see in-browser.ts.
    external: ["onnxruntime-web"],
    plugins: [ownEntries(built)],
    logLevel: "warning",
  });
  for (const file of ["index.html", "_headers"]) await copyFile(join(SOURCE, file), join(out, file));
  for (const kernels of ["simd.wasm", "relaxed.wasm"]) {
    await copyFile(join(built, "kernels", kernels), join(out, kernels));
  }
}
