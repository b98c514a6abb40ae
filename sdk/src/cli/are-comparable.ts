import type { Artifact } from "../artifact/artifact.ts";
import { parseGolden } from "../artifact/golden.ts";
import { cosine } from "../runtime/tasks/sentence-vector.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";

/** Cosine of the float32 vectors of a text above which two versions have the same weights, pooling and prompts. */
const SAME_MODEL = 0.999;

/** Whether the vectors of two versions of a model can be compared. For models without vectors, they always can. */
export async function areComparable(
  store: ObjectStore,
  name: string,
  versions: readonly [string, string],
): Promise<boolean> {
  if (versions[0] === versions[1]) return true;
  const [a, b] = await Promise.all(
    versions.map(async (version) => openPublished(store, await readPointer(store, name, version))),
  );
  if (a?.manifest.task !== "embed" || b?.manifest.task !== "embed") return a?.manifest.task === b?.manifest.task;
  const [before, after] = [await goldenOf(a), await goldenOf(b)];
  return [...before].every(([text, vector]) => {
    const other = after.get(text);
    return other === undefined || (other.length === vector.length && cosine(vector, other) >= SAME_MODEL);
  });
}

/** Returns the golden texts of an artifact with their vectors; none if an earlier version of bert-edge prepared it. */
async function goldenOf({ manifest, read }: Artifact): Promise<ReadonlyMap<string, Float32Array>> {
  if (manifest.task !== "embed" || manifest.golden === undefined) return new Map();
  const { texts, vectors } = parseGolden(await read(manifest.golden), manifest.dimensions, manifest.name);
  return new Map(texts.map((text, i) => [text, vectors[i] ?? new Float32Array()]));
}
