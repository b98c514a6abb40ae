import { BertEdgeError } from "../../artifact/error.ts";
import { type ChunkModel, type EmbeddedChunk, embedChunk } from "../../bulk/embed-chunk.ts";
import { type InputLine, lineSplitter } from "../../bulk/line-splitter.ts";
import type { Model } from "../../runtime/model.ts";
import { embedCall } from "../../runtime/tasks/embed-call.ts";
import type { Background } from "../background.ts";
import type { Tier } from "../contract/headers.ts";
import { startDeadline } from "../routing/deadline.ts";
import type { TaskService } from "../service.ts";
import type { JobsBucket } from "./bindings.ts";
import { metadataOf } from "./finished-parts.ts";
import { inTime } from "./in-time.ts";
import type { BulkJob } from "./job.ts";
import { partKey, rejectedKey } from "./keys.ts";
import type { MessageOf } from "./messages.ts";
import { openInput } from "./open-input.ts";

/** Time limit of the embeddings of a part, in ms. A part has a quarter of the CPU time of an invocation at most. */
const EMBED_MS = 300_000;

export interface PartEmbedder {
  readonly service: TaskService;
  /** Tier of this deployment. */
  readonly tier: Tier;
  readonly background: Background;
}

/**
 * Embeds a part and writes its results. The same part always gets the same keys and the same content, so it does not matter
 * how often its message is delivered.
 *
 * @throws BertEdgeError `job_changed` when the deployment serves another version of the model, or the input has changed
 */
export async function embedPart(
  bucket: JobsBucket,
  job: BulkJob,
  message: MessageOf<"part">,
  embedder: PartEmbedder,
): Promise<void> {
  const { part, size: bytes } = message;
  const key = partKey(job.name, part);
  const earlier = await inTime(bucket.head(key), key);
  if (earlier?.customMetadata?.["run"] === job.run) return;
  const lines = await linesOf(bucket, job, message);
  const { service, background } = embedder;
  const { results, rejected, counts } = await service.using(background, (model) =>
    embedded(lines, job, model, embedder),
  );
  const write = (to: string, content: string) =>
    inTime(
      bucket.put(to, content, {
        httpMetadata: { contentType: "application/jsonl" },
        customMetadata: metadataOf(job, { bytes, counts }),
      }),
      to,
    );
  // A part is finished when its results exist, so they are written last.
  if (counts.rejected > 0) await write(rejectedKey(job.name, part), rejected);
  await write(key, results);
}

async function linesOf(
  bucket: JobsBucket,
  job: BulkJob,
  { offset, size, line }: MessageOf<"part">,
): Promise<InputLine[]> {
  const splitter = lineSplitter(line);
  const lines: InputLine[] = [];
  for await (const piece of openInput(bucket, job, { offset, length: size })) lines.push(...splitter.push(piece));
  return [...lines, ...splitter.end()];
}

async function embedded(
  lines: readonly InputLine[],
  job: BulkJob,
  model: Model,
  { service, tier, background }: PartEmbedder,
): Promise<EmbeddedChunk> {
  assertVersion(job, model.manifest.name, model.version);
  const { name, maxTokens } = model.manifest;
  const signal = AbortSignal.timeout(EMBED_MS);
  const chunkModel: ChunkModel = {
    name,
    maxTokens,
    countTokens: (text) => model.tokenizer.encode(text, maxTokens).tokens,
    async embed(texts) {
      const answer = await service.answer(
        {
          call: embedCall(texts, { truncate: true }),
          deadline: startDeadline(undefined, { arrival: service.arrival(performance.now()) }),
          // The same engine computes all parts, and computes a part again with the same bits.
          pin: tier,
          signal,
        },
        background,
      );
      assertVersion(job, answer.model, answer.version);
      return answer.result;
    },
  };
  return embedChunk(lines, chunkModel, job);
}

function assertVersion(job: BulkJob, name: string, version: string): void {
  if (job.model === `${name}@${version}`) return;
  throw new BertEdgeError("job_changed", `The job ${job.name} needs ${job.model}, but ${name}@${version} is loaded.`, {
    hint: "Publish that version again, or start a job of another name.",
  });
}
