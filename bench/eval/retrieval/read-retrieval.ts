import { join } from "node:path";
import * as v from "valibot";
import { parseJson } from "#sdk/artifact/parse-json.ts";
import { type Line, linesOf, readData, unexpected } from "#sdk/compile/accuracy/tasks/data-file.ts";

/** Documents, queries, and the relevance of documents to queries. */
export interface Retrieval {
  /** Texts by id. */
  readonly documents: ReadonlyMap<string, string>;
  readonly queries: ReadonlyMap<string, string>;
  /** Relevance by query id and document id. Only queries with judgements are included. */
  readonly relevance: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

const HINT = "Give a folder in BEIR's format: corpus.jsonl, queries.jsonl and qrels/test.tsv.";

const Entry = v.object({ _id: v.string(), title: v.optional(v.string(), ""), text: v.string() });

/**
 * Reads a folder in BEIR's format (https://github.com/beir-cellar/beir/wiki/Load-your-custom-dataset). The text of a document
 * is its title, a space and its text, as in BEIR.
 *
 * @throws BertEdgeError `data_missing`; `data_invalid` with the file and number of the wrong line
 */
export async function readRetrieval(folder: string): Promise<Retrieval> {
  const texts = async (file: string) => new Map(await readData(join(folder, file), HINT, parseTexts));
  const documents = await texts("corpus.jsonl");
  const queries = await texts("queries.jsonl");
  const parse = (text: string, source: string) => [...parseRelevance(text, source, documents, queries)];
  const relevance = new Map(await readData(join(folder, "qrels", "test.tsv"), HINT, parse));
  return { documents, queries, relevance };
}

/**
 * Reads texts and their ids from lines of JSON.
 *
 * @throws BertEdgeError `data_invalid` with the number of the wrong line
 */
export function parseTexts(text: string, source: string): [id: string, text: string][] {
  const texts = new Map<string, string>();
  for (const line of linesOf(text, source)) {
    const entry = parseJson(Entry, line.text, { code: "data_invalid", what: line.place, hint: HINT });
    add(texts, entry._id, `${entry.title} ${entry.text}`.trim(), line);
  }
  return [...texts];
}

type Known = Pick<ReadonlyMap<string, unknown>, "has">;

/** @throws BertEdgeError `data_invalid` with the number of the wrong line */
export function parseRelevance(
  text: string,
  source: string,
  documents: Known,
  queries: Known,
): Map<string, Map<string, number>> {
  const relevance = new Map<string, Map<string, number>>();
  const [header, ...judgements] = linesOf(text, source);
  if (header && header.text !== "query-id\tcorpus-id\tscore") {
    throw unexpected(header, "the tab-separated header query-id, corpus-id, score", HINT);
  }
  for (const line of judgements) {
    const [query = "", document = "", score = "", ...others] = line.text.split("\t");
    if (!/^-?\d+$/.test(score) || others.length > 0) {
      throw unexpected(line, "a query id, a document id and a whole number, separated by tabs,", HINT);
    }
    if (!queries.has(query)) throw unexpected(line, `the id of a query in queries.jsonl instead of ${query}`, HINT);
    if (!documents.has(document))
      throw unexpected(line, `the id of a document in corpus.jsonl instead of ${document}`, HINT);
    const ofQuery = relevance.get(query) ?? new Map<string, number>();
    relevance.set(query, ofQuery);
    add(ofQuery, document, Number(score), line);
  }
  return relevance;
}

function add<T>(known: Map<string, T>, id: string, value: T, line: Line): void {
  if (known.has(id)) throw unexpected(line, `a new id instead of the repeated id ${id}`, HINT);
  known.set(id, value);
}
