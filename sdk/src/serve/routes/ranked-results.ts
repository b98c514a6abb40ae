import type { RankedDocument } from "../../runtime/tasks/rerank.ts";
import type { RerankResult } from "../contract/rerank.ts";

type Document = string | { readonly text: string };

export const textOfDocument = (document: Document): string => (typeof document === "string" ? document : document.text);

/** Describes ranked documents as Jina and Cohere do. */
export const rankedResults = (
  ranked: readonly RankedDocument[],
  { documents, return_documents }: { readonly documents: readonly Document[]; readonly return_documents: boolean },
): RerankResult[] =>
  ranked.map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(return_documents && { document: { text: textOfDocument(documents[index] as Document) } }),
  }));
