import type { TaskOptions } from "../../serve/contract/javascript.ts";
import { BertEdge, type BertEdgeOptions } from "../bert-edge.ts";

export type { BertEdgeOptions };

/** An embedding model of the AI SDK, version 6: `EmbeddingModelV3` of `@ai-sdk/provider`. */
export interface AiEmbeddingModel {
  readonly specificationVersion: "v3";
  readonly provider: string;
  readonly modelId: string;
  readonly maxEmbeddingsPerCall: number | undefined;
  readonly supportsParallelCalls: boolean;
  doEmbed(options: { values: string[]; abortSignal?: AbortSignal | undefined }): Promise<{
    embeddings: number[][];
    usage: { tokens: number };
    warnings: [];
  }>;
}

/** A reranking model of the AI SDK, version 6: `RerankingModelV3` of `@ai-sdk/provider`. */
export interface AiRerankingModel {
  readonly specificationVersion: "v3";
  readonly provider: string;
  readonly modelId: string;
  doRerank(options: {
    documents: { type: "text"; values: string[] } | { type: "object"; values: object[] };
    query: string;
    topN?: number | undefined;
    abortSignal?: AbortSignal | undefined;
  }): Promise<{ ranking: { index: number; relevanceScore: number }[] }>;
}

/** Models of a deployment, for the AI SDK: https://ai-sdk.dev */
export interface BertEdgeProvider {
  /** @param model name of a sentence encoder, or `name@version` */
  embeddingModel(model: string, options?: TaskOptions<"embed">): AiEmbeddingModel;
  /** @param model name of a cross-encoder or a sentence encoder, or `name@version` */
  rerankingModel(model: string): AiRerankingModel;
}

const PROVIDER = "bert-edge";

/** Environment variables that replace missing options. */
const variables = { baseURL: "BERT_EDGE_URL", apiKey: "BERT_EDGE_API_KEY" } as const;

/**
 * Makes a provider for the AI SDK:
 *
 * ```ts
 * const bert = createBertEdge({ baseURL: "https://bert.example.workers.dev", apiKey: "<key>" });
 * const { embedding } = await embed({ model: bert.embeddingModel("bert-edge-mini"), value: "to be" });
 * ```
 *
 * @param options options of the client. Default of `baseURL`: the environment variable BERT_EDGE_URL; of `apiKey`: BERT_EDGE_API_KEY
 */
export function createBertEdge(options: Partial<BertEdgeOptions> = {}): BertEdgeProvider {
  const setting = (name: keyof typeof variables) => {
    const value = options[name] ?? globalThis.process?.env?.[variables[name]];
    if (value) return value;
    throw new TypeError(`${name} is missing. Give it to createBertEdge(), or set ${variables[name]}.`);
  };
  let client: BertEdge | undefined;
  // The variables are read at the first call, because loading this module already makes the default provider.
  const asked = () => (client ??= new BertEdge({ ...options, baseURL: setting("baseURL"), apiKey: setting("apiKey") }));
  return {
    embeddingModel: (model, choice = {}) => ({
      specificationVersion: "v3",
      provider: PROVIDER,
      modelId: model,
      // The client splits any number of texts itself.
      maxEmbeddingsPerCall: undefined,
      supportsParallelCalls: true,
      async doEmbed({ values, abortSignal }) {
        const { embeddings, tokens } = await asked().embed(values, {
          ...choice,
          model,
          ...(abortSignal && { signal: abortSignal }),
        });
        return { embeddings: embeddings.map((vector) => Array.from(vector)), usage: { tokens }, warnings: [] };
      },
    }),
    rerankingModel: (model) => ({
      specificationVersion: "v3",
      provider: PROVIDER,
      modelId: model,
      async doRerank({ documents: { values }, query, topN, abortSignal }) {
        const texts = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
        const { results } = await asked().rerank(query, texts, {
          model,
          returnDocuments: false,
          ...(topN !== undefined && { topN }),
          ...(abortSignal && { signal: abortSignal }),
        });
        return { ranking: results.map(({ index, relevanceScore }) => ({ index, relevanceScore })) };
      },
    }),
  };
}

/** The provider of the deployment that BERT_EDGE_URL and BERT_EDGE_API_KEY name. */
export const bertEdge: BertEdgeProvider = createBertEdge();
