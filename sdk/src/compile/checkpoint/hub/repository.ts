import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import { importError } from "../../../artifact/optional-package.ts";
import type { HubModel } from "../../../storage/hub-model.ts";
import { wrongAnswer } from "./hub-error.ts";
import { boundedFetch } from "./hub-fetch.ts";
import { type HubFile, HubFiles } from "./hub-file.ts";

const Commit = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/));
const Info = v.object({ name: v.pipe(v.string(), v.regex(/^[\w-][\w.-]*(\/[\w-][\w.-]*)?$/)), sha: Commit });

/** A model at one commit. */
export interface HubCommit {
  /** The model's name. It differs from the name that was asked for if the model was renamed. */
  readonly name: string;
  readonly commit: string;
}

/** Whether a revision is a commit, which never changes. */
export const isCommit = (revision: string): boolean => v.is(Commit, revision);

/** Asks the Hub for a model's commits and files. All requests go through `fetch`. */
export type HubRepository = Awaited<ReturnType<typeof hubRepository>>;

/**
 * Opens the Hub with the optional package `@huggingface/hub`.
 *
 * The package finds commits and files. Its downloads are not used: `downloadFileToCacheDir` starts again after an
 * interruption and does not compare hashes, and the streams of `downloadFile` lose the error of a request.
 *
 * @param fetch see `hubFetch`
 * @throws BertEdgeError `package_missing`. The returned functions throw `hub_answer_invalid` and the errors of `fetch`.
 */
export async function hubRepository(endpoint: URL, fetch: typeof globalThis.fetch) {
  const { listFiles, modelInfo } = await huggingfaceHub();
  const base = endpoint.href.replace(/\/+$/, "");
  const access = () => ({ hubUrl: base, fetch: boundedFetch(fetch) });
  /** Validates what the package read, because the package returns the Hub's JSON unchecked. */
  async function valid<S extends v.GenericSchema>(schema: S, what: string, read: () => Promise<unknown>) {
    try {
      return v.parse(schema, await read());
    } catch (error) {
      if (error instanceof BertEdgeError || isAbort(error)) throw error;
      throw wrongAnswer(endpoint.host, `did not answer with ${what}`, error);
    }
  }
  return {
    /** The Hub's host, for messages. */
    host: endpoint.host,
    /** Returns the commit of a branch or tag. */
    async resolve({ name, revision }: Pick<HubModel, "name" | "revision">): Promise<HubCommit> {
      const info = await valid(Info, `a commit of ${name}`, () =>
        modelInfo({ ...access(), name, revision, additionalFields: ["sha"] }),
      );
      return { name: info.name, commit: info.sha };
    },
    /** Lists the files of a commit. */
    list: ({ name, commit }: HubCommit): Promise<HubFile[]> =>
      valid(HubFiles, `the files of ${name}`, async () => {
        const files: unknown[] = [];
        const pages = listFiles({ ...access(), repo: { type: "model", name }, revision: commit, recursive: true });
        for await (const file of pages) files.push(file);
        return files;
      }),
    /** Requests a file's content, from byte `offset` on. */
    open: ({ name, commit }: HubCommit, { path }: HubFile, offset: number): Promise<Response> =>
      fetch(`${base}/${name}/resolve/${commit}/${path.split("/").map(encodeURIComponent).join("/")}`, {
        headers: offset > 0 ? { range: `bytes=${offset}-` } : {},
      }),
  };
}

const isAbort = (error: unknown): boolean => Object(error).name === "AbortError";

async function huggingfaceHub() {
  try {
    return await import("@huggingface/hub");
  } catch (error) {
    throw importError("@huggingface/hub", error);
  }
}
