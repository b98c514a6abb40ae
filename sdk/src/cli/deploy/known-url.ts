import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as v from "valibot";

/** A deployment and its URL. It is kept because wrangler names the URL only when it deploys. */
const Known = v.object({ worker: v.string(), account: v.string(), url: v.pipe(v.string(), v.url()) });
type Known = v.InferOutput<typeof Known>;

const fileOf = (root: string) => join(root, ".wrangler/bert-edge-deployment.json");

/** Returns the URL of an earlier deployment of this Worker; undefined if it is not known. */
export async function knownUrl(root: string, { worker, account }: Omit<Known, "url">): Promise<string | undefined> {
  try {
    const known = v.parse(Known, JSON.parse(await readFile(fileOf(root), "utf8")));
    return known.worker === worker && known.account === account ? known.url : undefined;
  } catch {
    // Without the file, or with a damaged one, the Worker is deployed once more.
    return undefined;
  }
}

export async function keepUrl(root: string, known: Known): Promise<void> {
  const file = fileOf(root);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.tmp`, `${JSON.stringify(known)}\n`);
  await rename(`${file}.tmp`, file);
}
