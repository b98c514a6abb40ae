import { rm, stat } from "node:fs/promises";
import type { ChunkLimits } from "../../bulk/chunker.ts";
import { type ChunkModel, embedChunk } from "../../bulk/embed-chunk.ts";
import { addCounts, type RecordCounts } from "../../bulk/record-counts.ts";
import { openHashedFile } from "./hashed-file.ts";
import { jobChanged, journalFileOf, rejectedFileOf, writing } from "./job-files.ts";
import { firstJournal, type JobSettings, type Journal, readJournal, writeJournal } from "./journal.ts";
import { readChunks } from "./read-chunks.ts";

/** Maximum number of lines and of bytes that are embedded together: about a second of work. */
export const LOCAL_CHUNK: ChunkLimits = { lines: 256, bytes: 1_000_000 };

/** Minimum time between two writes of the journal, in ms. A run after a kill repeats the work since the last write. */
const JOURNAL_MS = 200;

export interface BatchOptions {
  /** The bytes of the whole input. */
  input: AsyncIterable<Uint8Array>;
  /** The input's name, for messages. */
  inputName: string;
  out: string;
  model: ChunkModel;
  settings: JobSettings;
  /** Whether to delete the results of earlier runs. */
  restart: boolean;
  /** Called at the start, and after each chunk, with the bytes of the input that are done. */
  onProgress: (bytes: number, counts: RecordCounts) => void;
  journalMs?: number;
}

export interface BatchReport {
  readonly out: string;
  /** File with the records that were set aside; undefined if there are none. */
  readonly rejectedFile: string | undefined;
  readonly model: string;
  readonly counts: RecordCounts;
  /** Number of records of earlier runs, which were not embedded again. */
  readonly resumed: number;
}

/**
 * Embeds the records of a JSONL file into another file. A run with the same options continues where an earlier run was
 * stopped. The result is the same as that of a single run.
 *
 * @throws BertEdgeError `job_changed` when `out` belongs to another input or other settings, and the errors of the model
 */
export async function runBatch(options: BatchOptions): Promise<BatchReport> {
  const { input, inputName, out, model, settings, onProgress, journalMs = JOURNAL_MS } = options;
  const [journalFile, rejectedFile] = [journalFileOf(out), rejectedFileOf(out)];
  const first = await startingPoint(journalFile, options);
  const { truncate, format: encodingFormat } = settings;
  await using results = await openHashedFile(out, first.output);
  await using rejected = await openHashedFile(rejectedFile, first.rejected);
  let { input: done, counts } = first;
  let writtenAt = performance.now();

  async function keep(complete: boolean): Promise<void> {
    const written = { output: await results.sync(), rejected: await rejected.sync() };
    await writeJournal(journalFile, { journal: 1, settings, input: done, ...written, counts, complete });
    writtenAt = performance.now();
  }

  onProgress(done.bytes, counts);
  const from = { prefix: first.input, lines: counts.lines };
  for await (const chunk of readChunks(input, { from, limits: LOCAL_CHUNK, name: inputName })) {
    const embedded = await embedChunk(chunk.lines, model, { encodingFormat, truncate });
    await results.append(embedded.results);
    await rejected.append(embedded.rejected);
    counts = addCounts(counts, embedded.counts);
    done = chunk.end().prefix;
    onProgress(done.bytes, counts);
    if (performance.now() - writtenAt >= journalMs) await keep(false);
  }
  await results.cut();
  await rejected.cut();
  await keep(true);
  if (counts.rejected === 0) await writing(rejectedFile, rm(rejectedFile, { force: true }));
  return {
    out,
    rejectedFile: counts.rejected > 0 ? rejectedFile : undefined,
    model: settings.model,
    counts,
    resumed: first.counts.records,
  };
}

/** Returns the journal of an earlier run, or writes the first one before any result. */
async function startingPoint(path: string, { out, settings, restart }: BatchOptions): Promise<Journal> {
  const found = restart ? undefined : await readJournal(path, settings);
  if (found) return found;
  const replaced = [out, rejectedFileOf(out)];
  for (const file of restart ? [] : replaced) {
    const bytes = await stat(file).then(
      ({ size }) => size,
      () => 0,
    );
    if (bytes > 0) throw jobChanged(`${file} has results, but their journal ${path} is missing.`);
  }
  const first = firstJournal(settings);
  await writeJournal(path, first);
  for (const file of replaced) await writing(file, rm(file, { force: true }));
  return first;
}
