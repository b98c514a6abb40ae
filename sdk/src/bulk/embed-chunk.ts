import { BertEdgeError } from "../artifact/error.ts";
import type { ErrorCode } from "../artifact/error-codes.ts";
import type { Truncation } from "../runtime/truncation.ts";
import type { EncodingFormat } from "../serve/contract/fields.ts";
import { formatVector } from "../serve/contract/vector-text.ts";
import type { InputLine } from "./line-splitter.ts";
import { type RejectedRecord, readRecord, type TextRecord } from "./read-record.ts";
import type { RecordCounts } from "./record-counts.ts";

/** The model that embeds a chunk. */
export interface ChunkModel {
  readonly name: string;
  readonly maxTokens: number;
  /** Counts the tokens of a text. Any number above `maxTokens` stands for a text that is too long. */
  countTokens(text: string): number;
  /** Embeds texts, and cuts those that are too long. */
  embed(texts: readonly string[]): Promise<readonly Float32Array<ArrayBuffer>[]>;
}

export interface RecordOptions {
  readonly encodingFormat: EncodingFormat;
  /** Whether to cut texts that are too long instead of setting them aside. */
  readonly truncate: Truncation;
}

export interface EmbeddedChunk {
  /** A JSON line for each embedded record, in order: `{"line", "id"?, "embedding"}`. */
  readonly results: string;
  /** A JSON line for each record that was set aside, in order: `{"line", "id"?, "code", "reason"}`. */
  readonly rejected: string;
  readonly counts: RecordCounts;
}

/** Errors of an embedding that concern one record only. Other errors stop the job. */
const ofOneRecord = new Set<ErrorCode>(["vector_invalid", "request_too_costly"]);

/** Embeds the records of a chunk. Records that cannot be embedded are set aside. */
export async function embedChunk(
  lines: readonly InputLine[],
  model: ChunkModel,
  { encodingFormat, truncate }: RecordOptions,
): Promise<EmbeddedChunk> {
  const records: TextRecord[] = [];
  const rejected: RejectedRecord[] = [];
  const cut = new Set<TextRecord>();
  for (const line of lines) {
    const record = readRecord(line);
    if (!record) continue;
    if ("code" in record) {
      rejected.push(record);
      continue;
    }
    const tokens = model.countTokens(record.text);
    if (tokens > model.maxTokens) {
      if (!truncate) {
        rejected.push(setAside(record, "input_too_long", reasonOfLength(tokens, model)));
        continue;
      }
      cut.add(record);
    }
    records.push(record);
  }

  const results: string[] = [];
  for (const [record, vector] of await embedEach(records, model)) {
    if (vector instanceof BertEdgeError) {
      rejected.push(setAside(record, vector.code, vector.message));
      cut.delete(record);
    } else results.push(`${startOfResult(record)},"embedding":${formatVector(vector, encodingFormat)}}\n`);
  }
  rejected.sort((a, b) => a.line - b.line);
  return {
    results: results.join(""),
    rejected: rejected.map((record) => `${JSON.stringify(record)}\n`).join(""),
    counts: {
      lines: lines.length,
      records: results.length + rejected.length,
      embedded: results.length,
      truncated: cut.size,
      rejected: rejected.length,
    },
  };
}

/** Embeds records, all at once if possible. Where one of them is at fault, each is embedded alone. */
async function embedEach(
  records: readonly TextRecord[],
  model: ChunkModel,
): Promise<[TextRecord, Float32Array<ArrayBuffer> | BertEdgeError][]> {
  if (records.length === 0) return [];
  try {
    const vectors = await model.embed(records.map(({ text }) => text));
    return records.map((record, i) => [record, vectors[i] as Float32Array<ArrayBuffer>]);
  } catch (error) {
    if (!(error instanceof BertEdgeError && ofOneRecord.has(error.code))) throw error;
    const [first, ...others] = records;
    if (first && others.length === 0) return [[first, error]];
    const outcomes: Awaited<ReturnType<typeof embedEach>> = [];
    for (const record of records) outcomes.push(...(await embedEach([record], model)));
    return outcomes;
  }
}

const setAside = ({ text: _, ...place }: TextRecord, code: ErrorCode, reason: string): RejectedRecord => ({
  ...place,
  code,
  reason,
});

const reasonOfLength = (tokens: number, { name, maxTokens }: ChunkModel): string =>
  `The text has at least ${tokens} tokens, but ${name} accepts at most ${maxTokens}.`;

const startOfResult = ({ line, id }: TextRecord): string =>
  `{"line":${line}${id === undefined ? "" : `,"id":${JSON.stringify(id)}`}`;
