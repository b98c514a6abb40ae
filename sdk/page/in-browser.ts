import { wasmEngine } from "bert-edge/engine/wasm";
import { loadPublished } from "bert-edge/runtime";
import { httpStore } from "bert-edge/storage/http";
import { type Answered, type Answers, classifyInput, scoredDocuments } from "./answers.ts";
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
  const answered = <R>(result: R, { version, tokens }: { version: string; tokens: number }): Answered<R> => ({
    ...{ result, place: "browser", version, tokens },
  });
  return {
    async embed(texts) {
      const { embeddings, ...details } = await model.embed(texts, { truncate: true });
      return answered(embeddings, details);
    },
    async classify(inputs) {
      const { results, ...details } = await model.classify(inputs.map(classifyInput), { truncate: true });
      return answered(results, details);
    },
    async rerank(query, documents) {
      const { results, ...details } = await model.rerank(query, documents);
      return answered(scoredDocuments(results, documents), details);
    },
  };
}

/** Compiles a build of the kernels, which lie beside this page's scripts. */
const kernels = (build: string): Promise<WebAssembly.Module> =>
  WebAssembly.compileStreaming(fetch(new URL(`${build}.wasm`, import.meta.url)));
