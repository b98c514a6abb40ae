import { wasmEngine } from "bert-edge/engine/wasm";
import { classifyCall, embedCall, loadPublished, rerankCall, type TaskCall } from "bert-edge/runtime";
import { httpStore } from "bert-edge/storage/http";
import type { Answered, Answers } from "./answers.ts";
import type { Connection } from "./connection.ts";

/** Loads the deployment's model into this browser. Then it answers with the engine of the edge. */
export async function inBrowser({ baseURL, key, info }: Connection): Promise<Answers> {
  const [simd, relaxed] = await Promise.all([
    kernels("simd"),
    // Browsers without relaxed SIMD cannot compile these kernels.
    kernels("relaxed").catch(() => undefined),
  ]);
  const engine = wasmEngine({ simd, ...(relaxed && { relaxed }) });
  const store = httpStore(`${baseURL}artifacts`, { headers: { authorization: `Bearer ${key}` } });
  const model = await loadPublished(store, info.model_id, engine);
  async function answer<R>(call: TaskCall<R>): Promise<Answered<R>> {
    const { sequences, decode } = model.encode(call.on(model.manifest));
    const { outputs, tokens } = await model.run(sequences);
    return { result: decode(outputs), place: "browser", version: model.version, tokens };
  }
  return {
    embed: (texts) => answer(embedCall(texts, { truncate: true })),
    classify: (inputs) => answer(classifyCall(inputs, { truncate: true })),
    async rerank(query, documents) {
      const answered = await answer(rerankCall(query, documents));
      const scored = answered.result.map(({ index, score }) => ({ label: documents[index] ?? "", score }));
      return { ...answered, result: scored };
    },
  };
}

/** Compiles a build of the kernels, which lie beside this page's scripts. */
const kernels = (build: string): Promise<WebAssembly.Module> =>
  WebAssembly.compileStreaming(fetch(new URL(`${build}.wasm`, import.meta.url)));
