import type { Artifact } from "../../artifact/artifact.ts";
import { BertEdgeError } from "../../artifact/error.ts";
import { parseGolden } from "../../artifact/golden.ts";
import { PREPARE_AGAIN, sentenceEncoder } from "../../artifact/manifest.ts";
import { openFolder } from "../../storage/folder-artifact.ts";
import type { ExpectedModel } from "./check-vectors.ts";

/**
 * Reads what a deployment should serve from an artifact folder.
 *
 * @throws BertEdgeError `artifact_missing`, `artifact_corrupt`, `manifest_invalid`, `task_unsupported`
 */
export const readExpected = async (folder: string): Promise<ExpectedModel> =>
  expectedOf(await openFolder(folder), folder);

/**
 * Reads what a deployment of an artifact should serve.
 *
 * @param source where the artifact comes from, for the error message
 * @throws BertEdgeError as `readExpected` does
 */
export async function expectedOf(artifact: Artifact, source: string): Promise<ExpectedModel> {
  const { version } = artifact;
  const manifest = sentenceEncoder(artifact.manifest);
  if (manifest.golden === undefined) {
    throw new BertEdgeError("artifact_corrupt", `${source} has no golden texts to compare a deployment with.`, {
      hint: PREPARE_AGAIN,
    });
  }
  const golden = parseGolden(await artifact.read(manifest.golden), manifest.dimensions, source);
  return { manifest, version, golden };
}
