import { join } from "node:path";
import * as v from "valibot";
import { replaceFile } from "../../compile/files/output-file.ts";
import { MAX_SETTINGS_BYTES, wholeText } from "../../compile/files/whole-file.ts";

const Names = v.object({ worker: v.string(), account: v.string() });

interface Place {
  readonly worker: string;
  /** Cloudflare's account ID. Without it, facts of any account are read. */
  readonly account: string | undefined;
  /** The environment of wrangler's configuration. Each keeps its own facts. */
  readonly environment: string | undefined;
}

/** Facts that no tool reports afterwards. The run that learns a fact keeps it. */
const Facts = v.object({
  /** URL of the Worker. wrangler names it only when it deploys. */
  url: v.optional(v.pipe(v.string(), v.url())),
  /** Tag of the package that the region runs. */
  regionPackage: v.optional(v.string()),
  /** Fingerprint of the region's URL and key that the Worker has. wrangler does not show the values of secrets. */
  regionAccess: v.optional(v.string()),
});
export type KnownFacts = v.InferOutput<typeof Facts>;

/** Facts of a Worker that earlier runs have kept in the project. Without them, a run repeats steps that are done. */
export interface KnownDeployment {
  readonly facts: KnownFacts;
  keep(more: KnownFacts): Promise<void>;
}

/** Reads the facts of a Worker. Finds none if the file is missing, is damaged or belongs to another Worker. */
export async function knownDeployment(root: string, { worker, account, environment }: Place): Promise<KnownDeployment> {
  const name = ["bert-edge-deployment", ...(environment === undefined ? [] : [environment]), "json"].join(".");
  const file = join(root, ".wrangler", name);
  let facts: KnownFacts = {};
  try {
    const known = v.parse(v.intersect([Names, Facts]), JSON.parse(await wholeText(file, MAX_SETTINGS_BYTES)));
    if (known.worker === worker && (account ?? known.account) === known.account) facts = v.parse(Facts, known);
  } catch {
    // A missing or damaged file has no facts.
  }
  return {
    get facts() {
      return facts;
    },
    async keep(more) {
      facts = { ...facts, ...more };
      await replaceFile(file, `${JSON.stringify({ worker, account: account ?? "", ...facts })}\n`);
    },
  };
}
