import { join } from "node:path";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { isolateMemory } from "../../bench/engine/workerd/isolate-memory.ts";

const NAME = "tokenizer";

/** Memory of an isolate of workerd that holds a tokenizer and has encoded a text, in bytes, and the text's number of tokens. */
export async function isolateBytes(packed: Uint8Array, text: string): Promise<{ bytes: number; tokens: number }> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "isolate-worker.ts")],
    ...{ bundle: true, minify: true, write: false, format: "esm", external: ["tokenizer"] },
  });
  const workerd = new Miniflare(
    convertV4MiniflareOptions({
      name: NAME,
      modules: [
        { type: "ESModule", path: "worker.js", contents: outputFiles[0]?.text ?? "" },
        { type: "Data", path: "tokenizer", contents: packed },
      ],
      modulesRoot: "/",
      compatibilityDate: "2026-11-01",
      inspectorPort: 0,
    }),
  );
  try {
    const ask = async (body: string) =>
      Number(await (await workerd.dispatchFetch("http://edge/", { method: "POST", body })).text());
    const tokens = await ask(text);
    const { heap, embedder, buffers } = await isolateMemory({
      inspector: async () => `ws://${(await workerd.getInspectorURL()).host}/core:user:${NAME}`,
      health: async () => void (await ask("")),
    });
    return { bytes: heap + embedder + buffers, tokens };
  } finally {
    await workerd.dispose();
  }
}
