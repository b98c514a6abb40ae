import type { Engine } from "../runtime/engine/engine.ts";
import { wasmEngine } from "../runtime/engine/wasm/index.ts";
import { wasmPoolEngine } from "../runtime/engine/wasm-pool/node/index.ts";

const compiled = async ({ default: base64 }: { default: string }): Promise<WebAssembly.Module> =>
  WebAssembly.compile(Buffer.from(base64, "base64"));

/**
 * Returns the edge engine for this process. JavaScript modules contain its kernels, so that a bundle includes them and reads no files.
 *
 * @param threads CPU threads. Default 1, as in an edge isolate
 */
export async function edgeEngine(threads = 1): Promise<Engine> {
  const [relaxed, simd] = await Promise.all([
    import("#embedded/relaxed").then(compiled),
    import("#embedded/simd").then(compiled),
  ]);
  const kernels = { relaxed, simd };
  return threads === 1 ? wasmEngine(kernels) : wasmPoolEngine({ ...kernels, threads });
}
