import type { Task } from "#sdk/artifact/manifest.ts";
import { encodeBytes } from "#sdk/serve/contract/vector-text.ts";
import { TINY } from "../fixtures/tiny-model.ts";
import type { Json } from "./damage-json.ts";

const TEXT = "the house";
const two = [TEXT, "to be"];
const pair = { text: TEXT, text_pair: "to be" };

/** Requests that a model with the task answers: routes, each with a body. */
export const requestsByTask: readonly (readonly [Task, readonly (readonly [path: string, body: Json])[]])[] = [
  [
    { task: "embed", pooling: "mean", normalize: true, dimensions: 8, prompts: { query: "query: " } },
    [
      ["/v1/embed", { inputs: two, truncate: true, dimensions: 4, output_type: "int8", prompt_name: "query" }],
      ["/v1/embed", { inputs: [[101, 2, 3, 102]], encoding_format: "base64" }],
      ["/v1/embed", { inputs: "be ".repeat(40), pool_chunks: true }],
      ["/v1/embed", { inputs: two, output_type: "ubinary", encoding_format: "base64" }],
      ["/v1/embeddings", { input: TEXT, model: TINY.name, encoding_format: "base64" }],
      [
        "/embeddings",
        { input: two, model: TINY.name, dimensions: 4, truncate_prompt_tokens: 8, truncation_side: "left", user: "u" },
      ],
      ["/v1/similarity", { source: TEXT, texts: two }],
      ["/v1/score", { text_1: TEXT, text_2: two, model: TINY.name, truncate_prompt_tokens: -1 }],
      ["/score", { text_1: TEXT, text_2: two }],
      ["/v1/rerank", { query: TEXT, documents: [TEXT, { text: "a" }], top_n: 1, return_documents: true }],
      ["/v1/zero-shot", { inputs: two, candidate_labels: ["a", "b"], hypothesis_template: "It is {}." }],
      ["/v1/outputs", { model: TINY.name, inputs: [TEXT], truncate: true }],
      ["/v1/outputs", { model: TINY.name, sequences: [{ ids: encodeBytes(Int32Array.of(101, 5, 102)) }] }],
      [
        "/v2/embed",
        { texts: [TEXT], input_type: "search_query", embedding_types: ["float", "int8", "base64"], model: TINY.name },
      ],
      ["/v2/rerank", { query: TEXT, documents: two, model: TINY.name, top_n: 1, max_tokens_per_doc: 8 }],
      ["/embed", { inputs: two, truncate: true }],
      ["/rerank", { query: TEXT, texts: two, return_text: true }],
      ["/similarity", { inputs: { source_sentence: TEXT, sentences: two }, parameters: { truncate: true } }],
      ["/tokenize", { inputs: two, add_special_tokens: false }],
      ["/decode", { ids: [101, 2, 102], skip_special_tokens: true }],
      ["/", { inputs: two }],
      [
        "/",
        { inputs: two, parameters: { truncate: true, truncation_direction: "left", normalize: true, dimensions: 4 } },
      ],
      ["/invocations", { inputs: two }],
    ],
  ],
  [
    { task: "classify", input: "text", labels: ["no", "yes"] },
    [
      ["/v1/classify", { inputs: two, top_k: 2 }],
      ["/predict", { inputs: two.map((text) => [text]), raw_scores: true }],
    ],
  ],
  [
    { task: "classify", input: "pair", labels: ["contradiction", "entailment", "neutral"] },
    [
      ["/v1/classify", { inputs: [pair] }],
      ["/v1/zero-shot", { inputs: TEXT, candidate_labels: ["a", "b"], multi_label: true }],
      ["/predict", { inputs: [two] }],
    ],
  ],
  [
    { task: "classify", input: "pair", labels: ["LABEL_0"] },
    [
      ["/v1/rerank", { query: TEXT, documents: two, top_n: 2 }],
      ["/v1/similarity", { source: TEXT, texts: two }],
    ],
  ],
  [{ task: "tag", labels: ["O", "B-PER", "I-PER"] }, [["/v1/tag", { inputs: two, truncate: true }]]],
  [
    { task: "answer" },
    [
      [
        "/v1/answer",
        { inputs: [{ question: TEXT, context: "to be or not to be ".repeat(4) }], doc_stride: 2, top_k: 2 },
      ],
    ],
  ],
  [
    { task: "fill-mask", mask: { id: 103, token: "[MASK]" } },
    [["/v1/fill-mask", { inputs: ["to [MASK]"], top_k: 2, targets: ["be"] }]],
  ],
  [
    { task: "sparse" },
    [
      ["/v1/sparse", { inputs: ["be"] }],
      ["/embed_sparse", { inputs: ["be"] }],
    ],
  ],
  [
    { task: "token-vectors", dimensions: 4 },
    [
      ["/v1/token-vectors", { inputs: two }],
      ["/v1/token-vectors", { inputs: two, encoding_format: "base64" }],
      ["/embed_all", { inputs: two }],
    ],
  ],
];
