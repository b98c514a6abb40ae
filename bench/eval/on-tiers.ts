import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Manifest } from "#sdk/artifact/manifest.ts";
import { printNote } from "#sdk/cli/output.ts";
import { prepare } from "#sdk/compile/commands/prepare.ts";
import type { TaskChoice } from "#sdk/compile/model/describe-model.ts";
import { stageCacheFolder } from "#sdk/compile/stages/stage-cache.ts";
import { openFolder } from "#sdk/storage/folder-artifact.ts";
import { type ServedTier, servedEdge, servedRegion } from "#test/fixtures/served-tiers.ts";
import { float32Engine } from "./float32-engine.ts";

/** `float32` is the region with the model's own weights, which no artifact has. */
export type TierName = "float32" | "edge" | "region";

/** A model to serve: its checkpoint, and what to make of it. */
export interface EvaluatedModel extends TaskChoice {
  readonly folder: string;
  readonly name: string;
}

/**
 * Prepares a model, serves it on 127.0.0.1, and calls `use` for one tier after the other. If our engine cannot run the model,
 * the edge is left out.
 *
 * @returns the manifest of the artifact
 */
export async function onTiers(
  { folder, name, ...choice }: EvaluatedModel,
  tiers: readonly TierName[],
  use: (tier: TierName, url: string) => Promise<void>,
): Promise<Manifest> {
  const work = await mkdtemp(join(tmpdir(), "bert-edge-eval-"));
  try {
    printNote(`prepare ${name}`);
    const out = join(work, "artifact");
    const options = { model: folder, out, name, cache: stageCacheFolder(), ...choice };
    await prepare({ ...options, targets: ["edge", "regional-cpu"] });
    const artifact = await openFolder(out);
    const start: Record<TierName, () => Promise<ServedTier>> = {
      float32: async () => servedRegion([artifact], await float32Engine(folder, choice)),
      edge: () => servedEdge([artifact]),
      region: () => servedRegion([artifact]),
    };
    const engine = artifact.manifest.targets.edge?.engine;
    for (const tier of tiers) {
      if (tier === "edge" && engine !== "wasm") {
        printNote(
          `${name}: skipped at the edge, because its target is for ${engine}, which functions/edge.ts does not have`,
        );
        continue;
      }
      printNote(`${name}: ${tier}`);
      const { url, stop } = await start[tier]();
      try {
        await use(tier, url);
      } finally {
        await stop();
      }
    }
    return artifact.manifest;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
