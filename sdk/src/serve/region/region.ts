import { regionSettings } from "./region-settings.ts";
import { connectRegion, type RegionTier, type RegionTierOptions } from "./region-tier.ts";

/** The thread that asks a region. */
export interface AskingThread {
  /** Milliseconds for which computations have occupied the thread so far. A fetch cannot proceed meanwhile. */
  busyMs(): number;
}

/** A region that a deployment can ask. */
export interface Region {
  /** Called once, when the deployment starts. */
  connect(thread: AskingThread): RegionTier;
}

/**
 * Describes a region: a deployment of `createRegionApp`, or another server that runs the same model. Another server is asked
 * for golden texts first, and it is used only if it returns the model's own vectors.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function regionTier(options: RegionTierOptions): Region {
  regionSettings(options);
  return { connect: ({ busyMs }) => connectRegion({ ...options, busyMs }) };
}
