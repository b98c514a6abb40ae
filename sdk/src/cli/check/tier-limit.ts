import type { EmbedManifest, TargetName } from "../../artifact/manifest.ts";
import type { Tier } from "../../serve/contract/headers.ts";
import { cosineLimit } from "../../serve/region/compare-golden.ts";

const targetsOf: Readonly<Record<Tier, readonly TargetName[]>> = {
  edge: ["edge"],
  region: ["regional-cpu", "regional-gpu"],
};

/** Returns the cosine that a tier must reach: what `prepare` measured for it, and never more than what fp16 reaches. */
export const tierLimit = ({ targets }: Pick<EmbedManifest, "targets">, tier: Tier): number =>
  Math.min(cosineLimit({ targets }), ...targetsOf[tier].flatMap((name) => targets[name]?.parity.minCosine ?? []));
