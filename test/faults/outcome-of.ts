import { BertEdgeError } from "#sdk/artifact/error.ts";
import { openPublished, readPointer } from "#sdk/storage/published-artifact.ts";
import type { ObjectStore } from "#sdk/storage/store.ts";
import { textOf } from "../fixtures/small-artifact.ts";
import type { Outcome } from "./fault.ts";

/** The content of the small model's file, by version. */
export interface Contents {
  readonly old: string;
  readonly new: string;
}

/** Reads the current version of the small model, and all of its files. */
export async function readWhole(store: ObjectStore, contents: Contents): Promise<Outcome> {
  return outcomeOf(async () => {
    const artifact = await openPublished(store, await readPointer(store, "small"));
    const texts: string[] = [];
    for (const name of Object.keys(artifact.manifest.files)) texts.push(textOf(await artifact.read(name)));
    const found = (["old", "new"] as const).filter((version) => {
      const content = contents[version];
      const pages = texts.filter((text) => text.startsWith("pages "));
      const isOfVersion = texts.includes(`model of ${content}`) && texts.includes(`{"of":"${content}"}`);
      return isOfVersion && pages.every((text) => text.endsWith(` of ${content}`));
    });
    return found[0] ?? { wrong: "the files belong to no version" };
  });
}

/** Runs `work`, and turns an error with a code into an outcome. */
export async function outcomeOf(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    return error instanceof BertEdgeError ? { code: error.code } : { wrong: String(error) };
  }
}
