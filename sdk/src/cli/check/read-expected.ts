import type { Artifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { parseGolden } from "../../artifact/golden.ts";
import type { GoldenTexts } from "../../artifact/manifest.ts";
import { type EmbedManifest, PREPARE_AGAIN, sentenceEncoder } from "../../artifact/manifest.ts";
import { type GoldenOptions, readGolden } from "../../compile/accuracy/golden/read-golden.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import type { ExpectedModel } from "./check-vectors.ts";

/**
 * Reads the expected model from an artifact folder, and the answers of the user's present system from a golden file.
 *
 * @throws BertEdgeError `artifact_missing`, `artifact_corrupt`, `manifest_invalid`, `task_unsupported`, `data_missing`,
 *   `data_invalid`, `data_unsuitable`
 */
export async function readExpected(
  folder: string,
  { golden: file, goldenMin: minimum }: GoldenOptions = {},
): Promise<ExpectedModel> {
  const expected = await expectedOf(await openFolder(folder), folder);
  if (file === undefined) return expected;
  const { manifest } = expected;
  const lines = await readGolden(file, { task: manifest, vocabulary: manifest.vocabulary });
  return { ...expected, present: { file, lines, minimum } };
}

/**
 * Returns the model that a deployment of an artifact should serve.
 *
 * @param source where the artifact comes from, for the error message
 * @throws BertEdgeError as `readExpected` does
 */
export async function expectedOf(artifact: Artifact, source: string): Promise<ExpectedModel> {
  const { version } = artifact;
  const manifest = sentenceEncoder(artifact.manifest);
  const golden =
    manifest.golden === undefined
      ? undefined
      : parseGolden(await artifact.read(manifest.golden), manifest.dimensions, source);
  const askable = golden && withoutDefaultPrompt(golden, manifest);
  if (askable && askable.texts.length > 0) return { manifest, version, golden: askable };
  throw new BertEdgeError("artifact_corrupt", `${source} has no golden texts to compare a deployment with.`, {
    hint: PREPARE_AGAIN,
  });
}

/** Removes the default prompt from the golden texts, because a deployment adds it. Leaves out texts that do not begin with it. */
function withoutDefaultPrompt(
  { texts, vectors }: GoldenTexts,
  { prompts = {}, defaultPrompt = "" }: EmbedManifest,
): GoldenTexts {
  const prompt = prompts[defaultPrompt] ?? "";
  const chosen = [...texts.keys()].filter((i) => texts[i]?.startsWith(prompt));
  return {
    texts: chosen.map((i) => (texts[i] as string).slice(prompt.length)),
    vectors: chosen.map((i) => vectors[i] as GoldenTexts["vectors"][number]),
  };
}
