import type { AskingThread } from "./probe.ts";
import { type HttpDialect, type RegionTierOptions, regionSettings, type WorkersAiBinding } from "./region-settings.ts";
import { connectRegion, type RegionTier } from "./region-tier.ts";

declare const opaque: unique symbol;

/** A region that a deployment can ask. `regionTier` and `regionFromEnv` make it. */
export interface Region {
  readonly [opaque]: true;
}

/** The methods of a `Region` that only the deployment sees. */
export interface ConnectableRegion {
  /** Called once, when the deployment starts. */
  connect(thread: AskingThread): RegionTier;
}

/**
 * Describes a region: a deployment of `createRegionApp`, or another server that returns the same vectors as the edge's model.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function regionTier(options: RegionTierOptions): Region {
  regionSettings(options);
  const region: ConnectableRegion = { connect: ({ busyMs }) => connectRegion({ ...options, busyMs }) };
  return region as unknown as Region;
}

/** Variables, secrets and bindings of a Worker that say where its region is. */
export interface RegionEnv {
  /** URL and API key of the region. */
  REGION_URL?: string;
  REGION_KEY?: string;
  /** The dialect of the region: `bert-edge`, `tei` or `openai`. Default `bert-edge`. */
  REGION_DIALECT?: HttpDialect;
  /** The model's name on a server of the dialect `openai`, or in the catalogue of Workers AI. */
  REGION_MODEL?: string;
  /** Keys of an AWS user who may call the region. Without them, requests are not signed. */
  REGION_AWS_ACCESS_KEY_ID?: string;
  REGION_AWS_SECRET_ACCESS_KEY?: string;
  /** The AWS region of the service, such as `eu-central-1`. Default: the AWS region in the URL. */
  REGION_AWS_REGION?: string;
  /** The AWS service that runs the region: `lambda` or `sagemaker`. Default `lambda`. */
  REGION_AWS_SERVICE?: string;
  /** Binding of Workers AI, which is the region if REGION_MODEL is set and REGION_URL is not. */
  AI?: WorkersAiBinding;
  /** Pooling, `mean` or `cls`, for models of Workers AI that support both. */
  REGION_POOLING?: "mean" | "cls";
}

/**
 * Describes the region that an environment names; undefined if it names none. Then the edge answers all requests itself.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function regionFromEnv(env: RegionEnv): Region | undefined {
  const { REGION_URL: url, REGION_KEY: key, REGION_DIALECT: dialect, REGION_MODEL: model } = env;
  if (url) return regionTier({ dialect, url, key, model, aws: awsAccess(env) });
  if (env.AI && model) return regionTier({ dialect: "workers-ai", ai: env.AI, model, pooling: env.REGION_POOLING });
  return undefined;
}

function awsAccess(env: RegionEnv) {
  const { REGION_AWS_ACCESS_KEY_ID: accessKeyId, REGION_AWS_SECRET_ACCESS_KEY: secretAccessKey = "" } = env;
  // An empty variable counts as not set.
  const region = env.REGION_AWS_REGION || undefined;
  return accessKeyId ? { accessKeyId, secretAccessKey, region, service: env.REGION_AWS_SERVICE } : undefined;
}
