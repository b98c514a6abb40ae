import { BertEdgeError } from "../artifact/error.ts";

/** Names of the settings in messages about an S3 store: the ones that the user has set, or can set. */
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
  /** Region for signatures; undefined if neither a setting nor the endpoint names a region. */
  readonly region: string | undefined;
}

interface S3Settings {
  /** URL as the user wrote it. It may contain the bucket, because dashboards show it so. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region?: string | undefined;
  /** Region if the endpoint names none. AWS_REGION is only such a default, because AWS Lambda and many shells set it for other services. */
  readonly otherwise?: string | undefined;
}

/** Domain of R2. The endpoint of each account is a host under it. */
export const R2_HOST = "r2.cloudflarestorage.com";

/** Returns the endpoint of an account's R2 buckets. Buckets of a jurisdiction, such as `eu`, have another endpoint. */
export const r2Endpoint = (account: string, jurisdiction?: string): string =>
  `https://${account}.${jurisdiction ? `${jurisdiction}.` : ""}${R2_HOST}`;

/** Hosts such as `s3.eu-central-1.amazonaws.com` and `s3.us-west-004.backblazeb2.com` name their region. */
const NAMED_REGION = /(?:^|\.)s3[.-](?:dualstack\.)?([a-z]+(?:-[a-z]+)+-\d+)\./;
/** Services that have a host name for each bucket, and whose endpoints have no path. */
const KNOWN = /\.(r2\.cloudflarestorage|amazonaws)\.com/;

/**
 * Returns the location of a bucket. Removes the bucket from the endpoint, because the drivers add it to the path of each request.
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
  // A path of several parts can belong to the endpoint of a service, such as `/storage/v1/s3`. Other paths are refused.
  if (parts.length === 1 || parts.includes(bucket) || (parts[0] && KNOWN.test(hostname))) {
    const hint = `${url.origin}, without a path. Name the bucket in ${named}`;
    throw invalid(setting, text, `has a path other than the bucket ${bucket}`, hint);
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

/** Makes the error for a setting. Hides user name and password of a URL. */
const invalid = (setting: string, value: string, fault: string, right: string): BertEdgeError =>
  new BertEdgeError("setting_invalid", `${setting}: ${JSON.stringify(value.replace(/\/\/.*@/, "//…@"))} ${fault}.`, {
    hint: `Set ${setting} to ${right}.`,
  });
