import { BertEdge, type BertEdgeOptions } from "../bert-edge.ts";
import type { VectorOptions } from "../embeddings.ts";

export type { BertEdgeOptions } from "../bert-edge.ts";
export type { VectorOptions } from "../embeddings.ts";

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
export interface AiProvider {
  /** @param model name of a sentence encoder, or `name@version` */
  embeddingModel(model: string, options?: Omit<VectorOptions, "model">): AiEmbeddingModel;
  /** @param model name of a cross-encoder or a sentence encoder, or `name@version` */
  rerankingModel(model: string): AiRerankingModel;
}

const PROVIDER = "bert-edge";

/**
 * Makes models for the AI SDK:
 *
 * ```ts
 * const bert = aiProvider({ baseURL: "https://bert.example.workers.dev", apiKey: "<key>" });
 * const { embedding } = await embed({ model: bert.embeddingModel("bert-edge-mini"), value: "to be" });
 * ```
 */
export function aiProvider(options: BertEdgeOptions): AiProvider {
  const client = new BertEdge(options);
  return {
    embeddingModel: (model, choice = {}) => ({
      specificationVersion: "v3",
      provider: PROVIDER,
      modelId: model,
      // The client splits any number of texts itself.
      maxEmbeddingsPerCall: undefined,
      supportsParallelCalls: true,
      async doEmbed({ values, abortSignal }) {
        const { embeddings, tokens } = await client.embed(values, {
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
        const { results } = await client.rerank(query, texts, {
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
