// Builds dist: `node build/index.ts` everything, `node build/index.ts kernels` the WebAssembly kernels alone.
// Everything is built in a folder of its own, and dist is updated at the end: commands keep working during a build.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { moveFiles, removeOthers } from "./move-files.ts";

const run = promisify(execFile);
const KERNELS = "src/runtime/engine/wasm/assembly/index.ts";
const PRODUCTS = "src/compile/quantize/weights/assembly/add-product.ts";
const ASSEMBLY = "--enable simd --runtime stub --noAssert -O3 --importMemory --noExportMemory --disableWarning 201";
/** The kernels use the memory below this address themselves: see memory-map.ts. */
const ENGINE = "--memoryBase 3328";

const assemble = (source: string, out: string, options = "") =>
  run("asc", [source, "-o", out, ...`${ASSEMBLY} ${options}`.trim().split(" ")]);

const buildKernels = (out: string) => [
  assemble(KERNELS, `${out}/kernels/simd.wasm`, ENGINE),
  assemble(KERNELS, `${out}/kernels/relaxed.wasm`, `--enable relaxed-simd ${ENGINE}`),
  assemble(PRODUCTS, `${out}/kernels/add-product.wasm`),
];

const onlyKernels = process.argv[2] === "kernels";
process.chdir(`${import.meta.dirname}/..`);
const draft = await mkdtemp("dist.draft-");
try {
  await Promise.all([
    ...(onlyKernels ? [] : [run("tsc", ["-p", "tsconfig.json", "--outDir", draft])]),
    ...buildKernels(draft),
  ]);
  const built = await moveFiles(draft, "dist");
  if (!onlyKernels) await removeOthers("dist", built);
} catch (error) {
  const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
  console.error(stdout + stderr || error);
  process.exitCode = 1;
} finally {
  await rm(draft, { recursive: true, force: true });
}
