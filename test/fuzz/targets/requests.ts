import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { rootRoutes, versionedRoutes } from "#sdk/serve/route-table.ts";
import { fakeEngine, TINY, tinyStore } from "../../fixtures/tiny-model.ts";
import { SeededChoice } from "../choose.ts";
import { damagedBytes } from "../damage-bytes.ts";
import { damagedJson, type Json } from "../damage-json.ts";
import type { Target } from "../target.ts";

const TEXT = "the house";
/** Routes, each with a body that it takes. */
const sound: readonly (readonly [path: string, body: Json])[] = [
  ["/v1/embed", { inputs: [TEXT, "a"], truncate: true, dimensions: 4, output_type: "int8" }],
  ["/models/tiny/v1/embeddings", { input: TEXT, model: TINY.name, encoding_format: "base64" }],
  ["/v1/similarity", { query: TEXT, texts: [TEXT, "a"] }],
  ["/v1/rerank", { query: TEXT, documents: [TEXT, { text: "a" }], top_n: 1, return_documents: true }],
  ["/v2/embed", { texts: [TEXT], input_type: "search_query", embedding_types: ["float", "int8"], model: TINY.name }],
  ["/embed", { inputs: [TEXT], normalize: false, truncate: true }],
  ["/tokenize", { inputs: [TEXT], add_special_tokens: false }],
  ["/v1/embed", { inputs: [[1, 2, 3], [4]] }],
];
/** Bodies for any route. */
const bodies: readonly Json[] = [
  ...sound.map(([, body]) => body),
  { inputs: { source_sentence: TEXT, sentences: [TEXT, "a"] }, parameters: { truncate: true } },
  { question: TEXT, context: "a", labels: ["x", "y"], hypothesis: "This is {}." },
  { ids: [1, 2], pairs: [[TEXT, "a"]] },
];
const headers: readonly (readonly [string, string])[] = [
  ["x-latency-budget-ms", "50"],
  ["x-latency-budget-ms", "1e309"],
  ["x-bert-edge-tier", "region"],
  ["x-bert-edge-precision", "fp99"],
  ["x-bert-edge-report", "1 NaN"],
  ["grpc-timeout", "99999999S"],
  ["traceparent", "00-0-0-00"],
  ["x-request-id", "a b"],
  ["content-type", "text/plain"],
  ["content-encoding", "gzip"],
  ["content-length", "3"],
  ["authorization", "Bearer"],
];

/** Requests to every route. Each must be answered with 200, or with a 4xx or 503 that has a code. */
export const requests: Target = {
  runs: { long: 60_000, short: 300 },
  async start() {
    const app = createEdgeApp({
      models: await tinyStore(),
      model: TINY.name,
      engine: fakeEngine(),
      keys: false,
      log: false,
    });
    const prefixes = ["/v1", "/v2", "/models/tiny/v1", "/models/..%2f/v1"];
    const paths = [
      ...versionedRoutes.flatMap(({ path }) => prefixes.map((prefix) => prefix + path.replace(/^\/v\d/, ""))),
      ...rootRoutes.map(({ path }) => path),
    ];
    return async (seed) => {
      const choice = new SeededChoice(seed);
      const [path, fitting] = choice.below(3) ? choice.of(sound) : [choice.of(paths), choice.of(bodies)];
      const text = JSON.stringify(damagedJson(fitting, choice));
      const body = choice.below(6) === 0 ? damagedBytes(Buffer.from(text), choice) : text;
      const sent = new Headers({ "content-type": "application/json" });
      for (let count = choice.below(3) - 1; count > 0; count--) sent.set(...choice.of(headers));
      const response = await app.request(path, { method: "POST", headers: sent, body });
      const answer = await response.text();
      if (response.status === 200) {
        if (/\bNaN\b|\bInfinity\b/.test(answer)) throw new Error(`The answer is no number: ${answer}`);
        return "accepted";
      }
      const code = /"(?:code|error_type)":\s*"([\w ]+)"/.exec(answer)?.[1] ?? `no code in ${answer}`;
      if (response.status >= 500 && response.status !== 503) throw new Error(`HTTP ${response.status} ${answer}`);
      return /^[a-z_]+$/.test(code) ? code : `http_${response.status}`;
    };
  },
};
