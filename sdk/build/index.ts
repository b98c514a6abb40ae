// Builds dist: `node build/index.ts` everything, `node build/index.ts kernels` the WebAssembly kernels alone.
// Everything is built in a folder of its own, and dist is updated at the end: commands keep working during a build. If nothing has
// changed since the last build, this one has nothing to do.
import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { promisify } from "node:util";
import { onInterrupt } from "../src/compile/files/on-interrupt.ts";
import { buildCatalogue } from "./build-catalogue.ts";
import { buildEmbedded } from "./build-embedded.ts";
import { isBuilt, rememberBuild } from "./build-key.ts";
import { buildPage } from "./build-page.ts";
import { moveFiles, removeOthers } from "./move-files.ts";

const run = promisify(execFile);
const KERNELS = "src/runtime/engine/wasm/assembly/index.ts";
const PRODUCTS = "src/compile/quantize/weights/assembly/add-product.ts";
const ASSEMBLY = "--enable simd --runtime stub --noAssert -O3 --importMemory --noExportMemory --disableWarning 201";
/** The kernels use the memory below this address themselves: see memory-map.ts. */
const ENGINE = "--memoryBase 3328";

const interrupted = new AbortController();
const compile = (command: string, args: readonly string[]) => run(command, args, { signal: interrupted.signal });
const assemble = (source: string, out: string, options = "") =>
  compile("asc", [source, "-o", out, ...`${ASSEMBLY} ${options}`.trim().split(" ")]);

const buildKernels = (out: string) => [
  assemble(KERNELS, `${out}/kernels/simd.wasm`, ENGINE),
  assemble(KERNELS, `${out}/kernels/relaxed.wasm`, `--enable relaxed-simd ${ENGINE}`),
  assemble(PRODUCTS, `${out}/kernels/add-product.wasm`),
];

const onlyKernels = process.argv[2] === "kernels";
process.chdir(`${import.meta.dirname}/..`);
if (onlyKernels || !(await isBuilt())) await build();

async function build(): Promise<void> {
  const draft = await mkdtemp("dist.draft-");
  const removeDraft = () => rmSync(draft, { recursive: true, force: true });
  onInterrupt(() => {
    interrupted.abort();
    removeDraft();
  });
  try {
    // Waits for all compilers, also when one fails: they would write into the removed folder.
    const compiled = await Promise.allSettled([
      ...(onlyKernels ? [] : [compile("tsc", ["-p", "tsconfig.json", "--outDir", draft])]),
      ...buildKernels(draft),
    ]);
    for (const each of compiled) if (each.status === "rejected") throw each.reason;
    await Promise.all([buildEmbedded(draft), ...(onlyKernels ? [] : [buildPage(draft), buildCatalogue(draft)])]);
    const built = await moveFiles(draft, "dist");
    if (!onlyKernels) {
      await removeOthers("dist", built);
      await rememberBuild();
    }
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    console.error(stdout + stderr || error);
    process.exitCode = 1;
  } finally {
    removeDraft();
  }
}
