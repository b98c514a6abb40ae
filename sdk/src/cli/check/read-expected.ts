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
export async function readExpected(folder: string): Promise<ExpectedModel> {
  const artifact = await openFolder(folder);
  const { version } = artifact;
  const manifest = sentenceEncoder(artifact.manifest);
  if (manifest.golden === undefined) {
    throw new BertEdgeError("artifact_corrupt", `${folder} has no golden texts to compare a deployment with.`, {
      hint: PREPARE_AGAIN,
    });
  }
  const golden = parseGolden(await artifact.read(manifest.golden), manifest.dimensions, folder);
  return { manifest, version, golden };
}
