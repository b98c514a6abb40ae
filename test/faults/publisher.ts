// Publishes the small model, in a process of its own that can be killed. Takes its job as JSON, and prints "begin" first.
import { setTimeout } from "node:timers/promises";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import { type S3PublisherOptions, s3Publisher } from "#sdk/storage/s3-publisher.ts";
import type { ManagedStore } from "#sdk/storage/store.ts";
import { smallArtifact, smallFilesWithPages } from "../fixtures/small-artifact.ts";

export interface PublisherJob {
  readonly place: { readonly folder: string } | { readonly s3: S3PublisherOptions };
  readonly content: string;
  /** Length to which the content is extended, in characters. Default: its own. */
  readonly length?: number;
  /** Whether the model has files with pages. Default false. */
  readonly pages?: boolean;
  /** Pause before each request to the store, in ms. */
  readonly pauseMs: number;
}

const { place, content, length = 0, pages = false, pauseMs } = JSON.parse(process.argv[2] ?? "") as PublisherJob;
const store: ManagedStore = "folder" in place ? fsStore(place.folder) : s3Publisher(place.s3);
const slow: ManagedStore = {
  ...store,
  async put(...args) {
    await setTimeout(pauseMs);
    await store.put(...args);
    await setTimeout(pauseMs);
  },
};
const whole = content.padEnd(length, "-");
const artifact = await smallArtifact(whole, "small", pages ? smallFilesWithPages(whole) : undefined);
process.stdout.write("begin\n");
await publish(artifact, slow);
