import { BertEdge, type BertEdgeOptions } from "../bert-edge.ts";
import type { EmbedOptions } from "../embeddings.ts";

export interface LangChainOptions extends BertEdgeOptions, Pick<EmbedOptions, "model" | "truncate" | "dimensions"> {
  /** Name of the model's prompt for queries, such as `query`. Default: the model's default prompt. */
  queryPrompt?: string;
  /** Name of the model's prompt for documents, such as `passage`. Default: the model's default prompt. */
  documentPrompt?: string;
}

/** Embeddings for LangChain.js, of the type `EmbeddingsInterface` of `@langchain/core`: https://js.langchain.com */
export class LangChainEmbeddings {
  readonly #embed: (texts: readonly string[], promptName: string | undefined) => Promise<number[][]>;
  readonly #prompts: Pick<LangChainOptions, "queryPrompt" | "documentPrompt">;

  constructor({ queryPrompt, documentPrompt, model, truncate, dimensions, ...options }: LangChainOptions) {
    const client = new BertEdge(options);
    const shared = {
      ...(model !== undefined && { model }),
      ...(truncate !== undefined && { truncate }),
      ...(dimensions !== undefined && { dimensions }),
    };
    this.#prompts = { ...(queryPrompt && { queryPrompt }), ...(documentPrompt && { documentPrompt }) };
    this.#embed = async (texts, promptName) => {
      const { embeddings } = await client.embed(texts, { ...shared, ...(promptName && { promptName }) });
      return embeddings.map((vector) => Array.from(vector));
    };
  }

  /** Embeds documents. Any number of them works; without documents there are no vectors. */
  async embedDocuments(documents: string[]): Promise<number[][]> {
    return documents.length > 0 ? this.#embed(documents, this.#prompts.documentPrompt) : [];
  }

  /** Embeds a query. */
  async embedQuery(query: string): Promise<number[]> {
    const [vector = []] = await this.#embed([query], this.#prompts.queryPrompt);
    return vector;
  }
}
