import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fsStore } from "#sdk/storage/fs.ts";
import { publish } from "#sdk/storage/publish.ts";
import { smallArtifact } from "../../fixtures/small-artifact.ts";
import type { Fault } from "../fault.ts";
import { readWhole } from "../outcome-of.ts";
import { ended, startPublisher } from "../run-publisher.ts";

/** Size of the model's file in bytes. The kernel refuses to write files beyond a random part of this. */
const SIZE = 200_000;

export const diskFull: Fault = {
  name: "disk full while publishing",
  times: { long: 30, short: 2 },
  async start() {
    const folder = await mkdtempDisposable(join(tmpdir(), "bert-edge-full-"));
    const store = fsStore(folder.path);
    let number = 0;
    return {
      async attempt(random) {
        const [before, after] = [`${number}`, `${++number}`];
        const contents = { old: before.padEnd(SIZE, "-"), new: after.padEnd(SIZE, "-") };
        await publish(await smallArtifact(contents.old), store);
        const job = { place: { folder: folder.path }, content: after, length: SIZE, pauseMs: 0 };
        const publisher = await startPublisher(job, random() * SIZE);
        await ended(publisher);
        const outcome = await readWhole(store, contents);
        const failed = publisher.exitCode !== 0;
        await publish(await smallArtifact(contents.new), store);
        return { outcome, recovered: failed && (await readWhole(store, contents)) === "new" };
      },
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  },
};
