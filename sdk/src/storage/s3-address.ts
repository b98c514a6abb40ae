import { BertEdgeError } from "../artifact/error.ts";

/** Settings that messages about an S3 store name: those that the user has set, or would set. */
export interface S3SettingNames {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly keys: readonly [access: string, secret: string];
}

/** Names of the variables that `s3Settings` reads. */
export const readerNames: S3SettingNames = {
  endpoint: "S3_ENDPOINT",
  bucket: "S3_BUCKET",
  region: "AWS_REGION",
  keys: ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"],
};

export interface S3Location {
  /** URL of the service: no bucket in it, and no slash at its end. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Region of the signatures. Undefined if nothing names it. */
  readonly region: string | undefined;
}

interface S3Settings {
  /** As the user wrote it. Dashboards show it with the bucket. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region?: string | undefined;
  /** Region of an endpoint that names none: AWS Lambda and many shells set AWS_REGION for other services too. */
  readonly otherwise?: string | undefined;
}

/** Host name that those of all accounts end with. */
export const R2_HOST = "r2.cloudflarestorage.com";

/** Returns the endpoint of the R2 buckets of an account. Buckets of a jurisdiction, such as `eu`, have one of their own. */
export const r2Endpoint = (account: string, jurisdiction?: string): string =>
  `https://${account}.${jurisdiction ? `${jurisdiction}.` : ""}${R2_HOST}`;

/** Hosts such as `s3.eu-central-1.amazonaws.com` and `s3.us-west-004.backblazeb2.com` name their region. */
const NAMED_REGION = /(?:^|\.)s3[.-](?:dualstack\.)?([a-z]+(?:-[a-z]+)+-\d+)\./;
/** Services that have a host name for each bucket, and no path of their own. */
const KNOWN = /\.(r2\.cloudflarestorage|amazonaws)\.com/;

/**
 * Reads where a bucket is. The drivers put the bucket into the path of each request, so an endpoint that has it already loses it.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function s3Location(
  { endpoint, bucket, region, otherwise }: S3Settings,
  { endpoint: setting, bucket: named, region: regional }: S3SettingNames,
): S3Location {
  if (!/^\w[\w.-]+$/.test(bucket))
    throw invalid(named, bucket, "is not the name of a bucket", "the name alone: my-models");
  assertRegion(region ?? otherwise, regional);
  const text = endpoint.trim();
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    const scheme = /^(localhost|[\d.]+|\[)/.test(text) ? "http" : "https";
    const meant = text.includes("://") ? undefined : URL.parse(`${scheme}://${text}`)?.origin;
    throw invalid(setting, text, "is not an http or https URL", meant ?? r2Endpoint("<account>"));
  }
  const { hostname, pathname, username, search, hash } = url;
  const outer = hostname.startsWith(`${bucket}.`) ? hostname.slice(bucket.length + 1) : "";
  if (KNOWN.test(outer)) url.hostname = outer;
  if (username || search || hash) throw invalid(setting, text, "has credentials, a query or a fragment", url.origin);
  const parts = pathname.split("/").filter(Boolean);
  if (parts.at(-1) === bucket) parts.pop();
  // Some services have a path of their own, such as `/storage/v1/s3`.
  if (parts.length === 1 || parts.includes(bucket) || (parts[0] && KNOWN.test(hostname))) {
    const hint = `${url.origin}, without a path. Name the bucket in ${named}`;
    throw invalid(setting, text, `has a path, and the bucket is ${bucket}`, hint);
  }
  return {
    endpoint: [url.origin, ...parts].join("/"),
    bucket,
    region: region ?? (url.hostname.endsWith(R2_HOST) ? "auto" : (NAMED_REGION.exec(url.hostname)?.[1] ?? otherwise)),
  };
}

/** @throws BertEdgeError `setting_invalid` */
export function assertRegion(region: string | undefined, setting: string): void {
  if (region === undefined || /^[\w-]+$/.test(region)) return;
  throw invalid(setting, region, "is not the name of a region", "auto for R2, or a name such as eu-central-1 for AWS");
}

/** The message does not show the password of a URL. */
const invalid = (setting: string, value: string, fault: string, right: string): BertEdgeError =>
  new BertEdgeError("setting_invalid", `${setting}: ${JSON.stringify(value.replace(/\/\/.*@/, "//…@"))} ${fault}.`, {
    hint: `Set ${setting} to ${right}.`,
  });
