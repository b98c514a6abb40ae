import type { Manifest } from "../../artifact/manifest.ts";

/** A request that a model can answer. */
export interface Example {
  readonly path: string;
  readonly body: object;
}

const TEXT = "to be or not to be";
const SENTENCE = "Anna works in New York.";

/** Returns a request that shows what a model does. */
export function exampleFor(manifest: Manifest): Example {
  switch (manifest.task) {
    case "embed":
      return { path: "/v1/embed", body: { inputs: TEXT } };
    case "classify": {
      if (manifest.input === "text") return { path: "/v1/classify", body: { inputs: TEXT } };
      return manifest.labels.length === 1
        ? { path: "/v1/rerank", body: { query: "Where does Anna work?", documents: [SENTENCE, TEXT] } }
        : { path: "/v1/classify", body: { inputs: { text: SENTENCE, text_pair: "Anna has a job." } } };
    }
    case "tag":
      return { path: "/v1/tag", body: { inputs: SENTENCE } };
    case "answer":
      return { path: "/v1/answer", body: { question: "Where does Anna work?", context: SENTENCE } };
    case "sparse":
      return { path: "/v1/sparse", body: { inputs: TEXT } };
    case "token-vectors":
      return { path: "/v1/token-vectors", body: { inputs: TEXT } };
    case "fill-mask":
      return { path: "/v1/fill-mask", body: { inputs: `Anna works in ${manifest.mask.token} York.` } };
  }
}
