import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import type { ManagedStore } from "#sdk/storage/store.ts";
import { smallArtifact, smallFilesWithPages } from "../../fixtures/small-artifact.ts";
import { startStrictObjectStorage } from "../../fixtures/strict-object-storage.ts";
import type { Fault, RunningFault } from "../fault.ts";
import { readWhole } from "../outcome-of.ts";
import type { PublisherJob } from "../publisher.ts";
import { ended, startPublisher } from "../run-publisher.ts";

/** Pause before and after each write, and in S3 after each request. */
const PAUSE_MS = 8;
/** Contents are sent to S3 in five parts. */
const PART_BYTES = 1_000;
const CONTENT_LENGTH = 4_500;

/** Kills publishers of a model with pages with SIGKILL at a random time of their publication, and publishes again. */
async function killing(store: ManagedStore, place: PublisherJob["place"]): Promise<RunningFault["attempt"]> {
  const contentOf = (model: number) => `model ${model} `.padEnd(CONTENT_LENGTH, "-");
  const start = (content: string) => startPublisher({ place, content, pages: true, pauseMs: PAUSE_MS });
  const artifactOf = (content: string) => smallArtifact(content, "small", smallFilesWithPages(content));
  // A publication takes longer on a machine that is busy.
  const undisturbed = await start(contentOf(-1));
  const began = performance.now();
  await ended(undisturbed);
  const wholeMs = performance.now() - began;
  let number = 0;
  return async (random) => {
    const contents = { old: contentOf(number), new: contentOf(++number) };
    await publish(await artifactOf(contents.old), store);
    const publisher = await start(contents.new);
    await setTimeout(random() * wholeMs);
    publisher.kill("SIGKILL");
    await ended(publisher);
    const outcome = await readWhole(store, contents);
    await publish(await artifactOf(contents.new), store);
    return { outcome, recovered: (await readWhole(store, contents)) === "new" };
  };
}

export const killedPublisherInFolder: Fault = {
  name: "publisher killed (folder)",
  times: { long: 50, short: 3 },
  async start() {
    const folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-killed-"));
    return {
      attempt: await killing(fsStore(folder.path), { folder: folder.path }),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  },
};

export const killedPublisherInS3: Fault = {
  name: "publisher killed (S3)",
  times: { long: 50, short: 2 },
  async start() {
    const storage = await startStrictObjectStorage();
    // Pauses in the middle of a write that goes in parts.
    storage.after = () => setTimeout(PAUSE_MS, undefined);
    const access = { ...storage.access, partBytes: PART_BYTES };
    return { attempt: await killing(s3Publisher(access), { s3: access }), [Symbol.asyncDispose]: storage.stop };
  },
};
