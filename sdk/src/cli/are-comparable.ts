import type { Artifact } from "../artifact/artifact.ts";
import { parseGolden } from "../artifact/golden.ts";
import { type Manifest, tokenizerFiles } from "../artifact/manifest.ts";
import { protocolOf } from "../runtime/tasks/late-interaction.ts";
import { cosine } from "../runtime/tasks/sentence-vector.ts";
import { openPublished, readPointer } from "../storage/published-artifact.ts";
import type { ObjectStore } from "../storage/store.ts";

/** Minimum cosine between the float32 vectors of a text in two versions that have the same weights, pooling and prompts. */
const SAME_MODEL = 0.999;

/**
 * Whether the vectors of two versions of a model can be compared. For models without vectors, they always can.
 *
 * @returns null if the artifacts do not show whether they can
 * @throws BertEdgeError if a version cannot be read
 */
export async function areComparable(
  store: ObjectStore,
  name: string,
  versions: readonly [string, string],
): Promise<boolean | null> {
  if (versions[0] === versions[1]) return true;
  const [a, b] = await Promise.all([open(store, name, versions[0]), open(store, name, versions[1])]);
  if (a.manifest.task !== b.manifest.task || !sameVectorSpace(a.manifest, b.manifest)) return false;
  if (!tasksWithVectors.has(a.manifest.task)) return true;
  const [before, after] = [await goldenOf(a), await goldenOf(b)];
  const common = [...before.keys()].filter((text) => after.has(text));
  if (common.length === 0) return haveSameFiles(a.manifest, b.manifest) ? true : null;
  return common.every((text) => cosine(vectorOf(before, text), vectorOf(after, text)) >= SAME_MODEL);
}

const open = async (store: ObjectStore, name: string, version: string): Promise<Artifact> =>
  openPublished(store, await readPointer(store, name, version));

const tasksWithVectors: ReadonlySet<Manifest["task"]> = new Set(["embed", "sparse", "token-vectors"]);

/** Whether two manifests agree in all fields that decide what the numbers of a vector mean. */
function sameVectorSpace(a: Manifest, b: Manifest): boolean {
  if (!tasksWithVectors.has(a.task)) return true;
  return JSON.stringify(vectorSpace(a)) === JSON.stringify(vectorSpace(b)) && haveSamePrompts(a, b);
}

function vectorSpace(manifest: Manifest): readonly unknown[] {
  const { pooling, normalize, poolsPrompt = true } = manifest.task === "embed" ? manifest : {};
  const dimensions = "dimensions" in manifest ? manifest.dimensions : undefined;
  return [manifest.vocabulary, dimensions, pooling, normalize, poolsPrompt, protocolOf(manifest)];
}

/** Whether two models have the same default prompt, and the same text for every name of a prompt that both have. */
function haveSamePrompts(a: Manifest, b: Manifest): boolean {
  const [before, after] = [promptsOf(a), promptsOf(b)];
  const isEqual = (name: string) => before.get(name) === after.get(name);
  return isEqual(DEFAULT) && [...before.keys()].every((name) => !after.has(name) || isEqual(name));
}

/** Key of the default prompt's text in the result of `promptsOf`. No prompt has this name. */
const DEFAULT = "";

function promptsOf(manifest: Manifest): ReadonlyMap<string, string> {
  const { prompts = {}, defaultPrompt } = "prompts" in manifest || "defaultPrompt" in manifest ? manifest : {};
  const texts = new Map(Object.entries(prompts));
  return new Map([...texts, [DEFAULT, (defaultPrompt !== undefined && texts.get(defaultPrompt)) || ""]]);
}

/** Whether two versions have the same tokenizer, and the same model file for some target. */
function haveSameFiles(a: Manifest, b: Manifest): boolean {
  const hash = ({ files }: Manifest, file: string | undefined) => file && files[file]?.sha256;
  const tokenizer = (manifest: Manifest) => tokenizerFiles(manifest.tokenizer).map((file) => hash(manifest, file));
  if (`${tokenizer(a)}` !== `${tokenizer(b)}`) return false;
  return Object.values(a.targets).some(
    (target) => target && Object.values(b.targets).some((other) => hash(a, target.model) === hash(b, other?.model)),
  );
}

const vectorOf = (golden: ReadonlyMap<string, Float32Array>, text: string) => golden.get(text) ?? new Float32Array();

/** Returns the golden texts of an artifact with their vectors; none for other tasks than `embed`, and for artifacts of old versions. */
async function goldenOf({ manifest, read }: Artifact): Promise<ReadonlyMap<string, Float32Array>> {
  if (manifest.task !== "embed" || manifest.golden === undefined) return new Map();
  const { texts, vectors } = parseGolden(await read(manifest.golden), manifest.dimensions, manifest.name);
  return new Map(texts.map((text, i) => [text, vectors[i] ?? new Float32Array()]));
}
