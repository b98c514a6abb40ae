import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import type { ManagedStore } from "#sdk/storage/store.ts";
import { startObjectStorage } from "../../fixtures/object-storage.ts";
import { smallArtifact } from "../../fixtures/small-artifact.ts";
import type { Fault, RunningFault } from "../fault.ts";
import { readWhole } from "../outcome-of.ts";
import type { PublisherJob } from "../publisher.ts";
import { ended, startPublisher } from "../run-publisher.ts";

/** A publication has 5 writes, each with two pauses. */
const PAUSE_MS = 8;
/** Time of a publication in ms. To S3, it begins with loading the AWS SDK. */
const FOLDER_MS = 130;
const S3_MS = 700;

/** Kills publishers with SIGKILL at a random time, and publishes again. */
function killing(store: ManagedStore, place: PublisherJob["place"], wholeMs: number): RunningFault["attempt"] {
  let number = 0;
  return async (random) => {
    const contents = { old: `model ${number}`, new: `model ${++number}` };
    await publish(await smallArtifact(contents.old), store);
    const publisher = await startPublisher({ place, content: contents.new, pauseMs: PAUSE_MS });
    await setTimeout(random() * wholeMs);
    publisher.kill("SIGKILL");
    await ended(publisher);
    const outcome = await readWhole(store, contents);
    await publish(await smallArtifact(contents.new), store);
    return { outcome, recovered: (await readWhole(store, contents)) === "new" };
  };
}

export const killedPublisherInFolder: Fault = {
  name: "publisher killed (folder)",
  times: { long: 50, short: 3 },
  async start() {
    const folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-killed-"));
    return {
      attempt: killing(fsStore(folder.path), { folder: folder.path }, FOLDER_MS),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  },
};

export const killedPublisherInS3: Fault = {
  name: "publisher killed (S3)",
  times: { long: 50, short: 2 },
  async start() {
    const { access, stop } = await startObjectStorage();
    return { attempt: killing(s3Publisher(access), { s3: access }, S3_MS), [Symbol.asyncDispose]: stop };
  },
};
