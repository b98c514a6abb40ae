import { join } from "node:path";
import * as v from "valibot";
import { readText } from "../../compile/files/regular-file.ts";
import { replaceFile } from "../../compile/files/replace-file.ts";

const Names = v.object({ worker: v.string(), account: v.string() });
type Names = v.InferOutput<typeof Names>;

/** Facts that no tool tells. They are kept by the runs that knew them. */
const Facts = v.object({
  /** URL of the Worker. wrangler names it only when it deploys. */
  url: v.optional(v.pipe(v.string(), v.url())),
  /** Tag of the package that the region runs. */
  regionPackage: v.optional(v.string()),
  /** Fingerprint of the region's URL and key that the Worker has. wrangler does not show the values of secrets. */
  regionAccess: v.optional(v.string()),
});
export type KnownFacts = v.InferOutput<typeof Facts>;

/** Facts of a Worker that earlier runs have kept in the project. Without them, a run does more than it must. */
export interface KnownDeployment {
  readonly facts: KnownFacts;
  keep(more: KnownFacts): Promise<void>;
}

/** Reads what is known of a Worker: nothing if the file is of another Worker, damaged or not there. */
export async function knownDeployment(root: string, { worker, account }: Names): Promise<KnownDeployment> {
  const file = join(root, ".wrangler/bert-edge-deployment.json");
  let facts: KnownFacts = {};
  try {
    const known = v.parse(v.intersect([Names, Facts]), JSON.parse(await readText(file)));
    if (known.worker === worker && known.account === account) facts = v.parse(Facts, known);
  } catch {
    // Nothing is known.
  }
  return {
    get facts() {
      return facts;
    },
    async keep(more) {
      facts = { ...facts, ...more };
      await replaceFile(file, `${JSON.stringify({ worker, account, ...facts })}\n`);
    },
  };
}
