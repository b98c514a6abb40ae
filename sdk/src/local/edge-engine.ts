import type { Engine } from "../runtime/engine/engine.ts";
import { type KernelModules, wasmEngine } from "../runtime/engine/wasm/index.ts";
import { wasmPoolEngine } from "../runtime/engine/wasm-pool/node/index.ts";

const compiled = async ({ default: base64 }: { default: string }): Promise<WebAssembly.Module> =>
  WebAssembly.compile(Buffer.from(base64, "base64"));

/** Compiles the engine's kernels. JavaScript modules contain them, so that a bundle includes them and reads no files. */
export async function edgeKernels(): Promise<Required<KernelModules>> {
  const [relaxed, simd] = await Promise.all([
    import("#embedded/relaxed").then(compiled),
    import("#embedded/simd").then(compiled),
  ]);
  return { relaxed, simd };
}

/**
 * Returns the edge engine for this process.
 *
 * @param threads CPU threads. Default 1, as in an edge isolate
 */
export async function edgeEngine(threads = 1): Promise<Engine> {
  const kernels = await edgeKernels();
  return threads === 1 ? wasmEngine(kernels) : wasmPoolEngine({ ...kernels, threads });
}
