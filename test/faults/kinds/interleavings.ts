import { BertEdgeError } from "#sdk/artifact/error.ts";
import { collectGarbage } from "#sdk/storage/collect-garbage.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { publish } from "#sdk/storage/publish.ts";
import { openPublished, readPointer } from "#sdk/storage/published-artifact.ts";
import type { ManagedStore, StoredObject } from "#sdk/storage/store.ts";
import { listVersions, previousVersion, promote } from "#sdk/storage/versions.ts";
import { smallArtifact, textOf } from "../../fixtures/small-artifact.ts";
import { verifyPublished } from "../../fixtures/verify-published.ts";
import type { Fault, Outcome } from "../fault.ts";

const DAY_MS = 86_400_000;
const CONTENTS = ["a", "b", "c", "d"];

/** Each of these runs at the same time as the others, some steps long. */
const ACTORS = 4;
const STEPS = 3;
const ROUNDS = 3;

/** A store whose requests take a random number of turns. `age` makes all of its objects 40 days older. */
function randomStore(random: () => number): ManagedStore & { age(): void } {
  const store = memoryStore();
  /** Round in which an object was written. */
  const written = new Map<string, number>();
  const writeOf = ({ key, modified }: StoredObject) => `${key} ${modified.getTime()}`;
  /** The store's own descriptions of objects, by the descriptions that were given out. */
  const originals = new WeakMap<StoredObject, StoredObject>();
  let round = 0;
  const turns = async () => {
    for (let left = Math.floor(random() * 6); left > 0; left--) await Promise.resolve();
  };
  const withAge = (object: StoredObject): StoredObject => {
    const days = 40 * (round - (written.get(writeOf(object)) ?? round));
    const told = { ...object, modified: new Date(object.modified.getTime() - days * DAY_MS) };
    originals.set(told, object);
    return told;
  };
  return {
    ...store,
    age: () => void round++,
    async open(key, signal) {
      await turns();
      return store.open(key, signal);
    },
    async put(key, bytes, options) {
      await turns();
      await store.put(key, bytes, options);
      const now = await store.head(key);
      if (now) written.set(writeOf(now), round);
      await turns();
    },
    async head(key) {
      await turns();
      const found = await store.head(key);
      return found && withAge(found);
    },
    async *list(prefix) {
      for await (const object of store.list(prefix)) {
        await turns();
        yield withAge(object);
      }
    },
    async remove(key, only) {
      await turns();
      return store.remove(key, only && originals.get(only));
    },
  };
}

type Step = (store: ManagedStore, random: () => number) => Promise<unknown>;

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)] as T;

const steps: readonly Step[] = [
  async (store, random) => publish(await smallArtifact(pick(CONTENTS, random)), store),
  async (store, random) => {
    const versions = await listVersions(store, "small");
    if (versions.length > 0) await promote(store, "small", pick(versions, random).version);
  },
  async (store) => promote(store, "small", await previousVersion(store, "small")),
  async (store) => collectGarbage(store, { olderThanMs: 30 * DAY_MS }),
];

/** Codes that these may end with. */
const expected: ReadonlySet<string> = new Set(["publish_conflict", "model_not_published", "artifact_corrupt"]);

/** Reads the current version whole. */
async function read(store: ManagedStore): Promise<"whole" | { code: string } | { wrong: string }> {
  try {
    const artifact = await openPublished(store, await readPointer(store, "small"));
    const texts: string[] = [];
    for (const file of Object.keys(artifact.manifest.files)) texts.push(textOf(await artifact.read(file)));
    const content = CONTENTS.find((each) => texts.includes(`model of ${each}`));
    return texts.includes(`{"of":"${content}"}`) ? "whole" : { wrong: `files of two versions: ${texts.join(" ")}` };
  } catch (error) {
    return error instanceof BertEdgeError ? { code: error.code } : { wrong: String(error) };
  }
}

export const interleavings: Fault = {
  name: "publish, promote, rollback, gc and readers at once",
  times: { long: 1000, short: 40 },
  async start() {
    return {
      async attempt(random) {
        const store = randomStore(random);
        await publish(await smallArtifact(pick(CONTENTS, random)), store);
        let outcome: Outcome = "new";
        for (let round = 0; round < ROUNDS; round++) {
          store.age();
          let acting = true;
          const reader = async () => {
            while (acting) {
              const seen = await read(store);
              if (seen !== "whole") outcome = seen;
              await new Promise((resolve) => setImmediate(resolve));
            }
          };
          const readers = [reader(), reader()];
          const actor = async () => {
            for (let step = 0; step < STEPS; step++) {
              await pick(steps, random)(store, random).catch((error: unknown) => {
                if (!(error instanceof BertEdgeError) || !expected.has(error.code)) outcome = { wrong: String(error) };
              });
            }
          };
          await Promise.all(Array.from({ length: ACTORS }, actor));
          acting = false;
          await Promise.all(readers);
        }
        const recovered = await verifyPublished(store, "small").then(
          () => true,
          () => false,
        );
        return { outcome, recovered };
      },
      async [Symbol.asyncDispose]() {},
    };
  },
};
