import { publish } from "#sdk/storage/publish.ts";
import { s3Store } from "#sdk/storage/s3.ts";
import { s3Publisher } from "#sdk/storage/s3-publisher.ts";
import type { ObjectStorage } from "../../fixtures/object-storage.ts";
import { smallArtifact } from "../../fixtures/small-artifact.ts";
import { startStrictObjectStorage } from "../../fixtures/strict-object-storage.ts";
import type { Fault } from "../fault.ts";
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from "../faulty-proxy.ts";
import { outcomeOf, readWhole } from "../outcome-of.ts";

/** Time limit of a request in ms. Answers that are too slow take longer. */
const TIMEOUT_MS = 150;
const SLOW_MS = 300;

/** Contents are sent in three parts. */
const PART_BYTES = 1_000;
const CONTENT_LENGTH = 2_500;

interface Place extends AsyncDisposable {
  readonly access: ObjectStorage["access"];
  readonly proxy: FaultyProxy;
}

async function openPlace(): Promise<Place> {
  const storage = await startStrictObjectStorage();
  const proxy = await startFaultyProxy(storage.access.endpoint, SLOW_MS);
  return {
    access: storage.access,
    proxy,
    async [Symbol.asyncDispose]() {
      await proxy.stop();
      await storage.stop();
    },
  };
}

/** Readers of a store of which a third of the answers are damaged. */
const readingFrom = (fault: ProxyFault): Fault => ({
  name: `store while reading: ${fault}`,
  times: { long: 30, short: 2 },
  async start() {
    const place = await openPlace();
    const { access, proxy } = place;
    const behindProxy = { ...access, endpoint: proxy.url };
    const reader = s3Store({ ...behindProxy, timeoutMs: TIMEOUT_MS });
    // A busy machine can need longer for a right answer.
    const patient = s3Store(behindProxy);
    let number = 0;
    return {
      async attempt(random) {
        const contents = { old: `model ${number}`, new: `model ${++number}` };
        await publish(await smallArtifact(contents.new), s3Publisher(access));
        proxy.impose(fault, random, 1 / 3);
        const outcome = await readWhole(reader, contents);
        proxy.impose(undefined);
        return { outcome, recovered: (await readWhole(patient, contents)) === "new" };
      },
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  },
});

/** Publishers to a store of which a sixth of the answers are damaged: a publication has three times as many requests. */
const publishingTo = (fault: ProxyFault): Fault => ({
  name: `store while publishing: ${fault}`,
  times: { long: 30, short: 1 },
  async start() {
    const place = await openPlace();
    const { proxy } = place;
    const access = { ...place.access, partBytes: PART_BYTES };
    const direct = s3Publisher(access);
    const contentOf = (model: number) => `model ${model} `.padEnd(CONTENT_LENGTH, "-");
    let number = 0;
    return {
      async attempt(random) {
        const contents = { old: contentOf(number), new: contentOf(++number) };
        await publish(await smallArtifact(contents.old), direct);
        proxy.impose(fault, random, 1 / 6);
        const faulty = s3Publisher({ ...access, endpoint: proxy.url, timeoutMs: TIMEOUT_MS });
        const published = await outcomeOf(async () => {
          await publish(await smallArtifact(contents.new), faulty);
          return "new";
        });
        proxy.impose(undefined);
        const seen = await readWhole(direct, contents);
        await publish(await smallArtifact(contents.new), direct);
        const recovered = (await readWhole(direct, contents)) === "new";
        if (typeof published === "object" && "wrong" in published) return { outcome: published, recovered };
        // A publisher that reports success has made the new version current.
        if (published === "new" && seen !== "new")
          return { outcome: { wrong: "published, but not current" }, recovered };
        // Nobody else publishes here.
        const isConflict = typeof published === "object" && published.code === "publish_conflict";
        return { outcome: isConflict ? { wrong: "a conflict with itself" } : seen, recovered };
      },
      [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
    };
  },
});

export const faultyStores: readonly Fault[] = [
  ...(["HTTP 500", "HTTP 503", "too slow", "truncated", "corrupted", "reset"] as const).map(readingFrom),
  ...(["HTTP 500", "HTTP 503", "too slow", "reset", "answer lost"] as const).map(publishingTo),
];
