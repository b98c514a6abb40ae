import { BertEdgeError } from "../../artifact/error.ts";
import { R2_HOST } from "../../storage/s3-address.ts";

/** R2's jurisdictions. https://developers.cloudflare.com/r2/reference/data-location/#jurisdictional-restrictions */
export const JURISDICTIONS = ["eu", "fedramp", "us"] as const;
export type Jurisdiction = (typeof JURISDICTIONS)[number];

/** The only region of R2's S3 interface. AWS_REGION is not used, because it names the region of buckets on AWS. */
export const R2_REGION = "auto";

/** Returns wrangler's options for buckets in a jurisdiction. Without options, wrangler uses buckets outside of jurisdictions. */
export const jurisdictionArgs = (jurisdiction?: Jurisdiction): string[] =>
  jurisdiction ? ["--jurisdiction", jurisdiction] : [];

/**
 * Checks that an endpoint on R2 belongs to the bucket to which the Worker is bound.
 *
 * @param given the option `--endpoint`
 * @param own the bucket's endpoint
 * @throws BertEdgeError `setting_invalid` if the endpoint belongs to another account or jurisdiction
 */
export function assertOwnEndpoint(given: string, own: string): void {
  if (!URL.canParse(given)) return;
  const { hostname } = new URL(given);
  if (!hostname.endsWith(`.${R2_HOST}`) || hostname === new URL(own).hostname) return;
  throw new BertEdgeError("setting_invalid", `--endpoint is ${given}, but the Worker's bucket is at ${own}.`, {
    hint: "Leave --endpoint out, or correct account and jurisdiction in wrangler's configuration.",
  });
}

/** CPU time per request of Cloudflare's plans, in ms: https://developers.cloudflare.com/workers/platform/limits/#cpu-time */
export const FREE_PLAN_MS = 10;
export const PAID_PLAN_MS = 30_000;
