import { abortWith } from "./abort-with.ts";
import type { Embeddings, EmbedOptions } from "./embeddings.ts";
import { versionChanged } from "./errors.ts";

export interface EmbedManyOptions extends Omit<EmbedOptions, "onProgress" | "onError"> {
  /** Called after each batch, with the number of texts that have a vector. */
  onProgress?: (progress: { done: number }) => void;
}

interface Batches {
  /** Maximum number of texts in a batch. */
  readonly batchSize: number;
  /** Maximum number of batches at the same time, which bounds the memory. */
  readonly concurrency: number;
  readonly embed: (texts: readonly string[], signal: AbortSignal) => Promise<Embeddings>;
}

/**
 * Embeds texts while they are read. Yields a vector for each, in order. The first error stops all requests.
 *
 * @throws the errors of `embed` and of reading the texts; VersionChangedError if the model changes meanwhile
 */
export async function* embedMany(
  texts: Iterable<string> | AsyncIterable<string>,
  { batchSize, concurrency, embed }: Batches,
  { signal, onProgress }: EmbedManyOptions,
): AsyncGenerator<Float32Array<ArrayBuffer>, void, undefined> {
  const stop = new AbortController();
  const unlink = abortWith(stop, signal);
  const running: Promise<Embeddings>[] = [];
  let version: string | undefined;
  let done = 0;

  async function* first(): AsyncGenerator<Float32Array<ArrayBuffer>> {
    const answer = (await running.shift()) as Embeddings;
    version ??= answer.version;
    if (answer.version !== version) throw versionChanged(version, answer.version);
    done += answer.embeddings.length;
    onProgress?.({ done });
    yield* answer.embeddings;
  }

  try {
    for await (const batch of batchesOf(texts, batchSize)) {
      stop.signal.throwIfAborted();
      const answer = embed(batch, stop.signal);
      // `answer` may reject while earlier batches are awaited. Without this handler, Node would exit.
      answer.catch(() => {});
      running.push(answer);
      if (running.length === concurrency) yield* first();
    }
    while (running.length > 0) yield* first();
  } finally {
    unlink();
    stop.abort();
  }
}

async function* batchesOf(texts: Iterable<string> | AsyncIterable<string>, size: number): AsyncGenerator<string[]> {
  let batch: string[] = [];
  for await (const text of texts) {
    batch.push(text);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
