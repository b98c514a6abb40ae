import type { BertEdgeError } from "../artifact/error.ts";
import { isRedirect } from "./http-response.ts";
import type { S3Location, S3SettingNames } from "./s3-address.ts";
import { storageError } from "./storage-error.ts";

/** An S3 store, as error messages describe it. Without an endpoint, it is AWS. */
export interface S3Place extends Pick<S3Location, "bucket" | "region">, Partial<Pick<S3Location, "endpoint">> {
  readonly names: S3SettingNames;
}

/** A failed request: the error code and HTTP status of the service, or the error of the client. */
export interface S3Failure {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
  /** Description and hint that replace the ones that `s3Error` chooses. */
  readonly advice?: FailureWords | undefined;
}

export type FailureWords = readonly [what: string, hint: string];

/** Makes the error of a failed S3 request. The hint names the setting or the command that helps. */
export function s3Error(place: S3Place, key: string, { code, status, cause, advice }: S3Failure): BertEdgeError {
  const answer = status === undefined ? undefined : `HTTP ${status}${code ? ` ${code}` : ""}`;
  const [what, hint] = advice ?? adviceOf(code, status, place) ?? [];
  const parts = [what, answer].filter((part) => part !== undefined);
  return storageError(`s3(${place.bucket})`, key, parts.join(", ") || String(cause), { cause, hint });
}

/** Returns what happened and what to do; undefined for failures that only the service can explain. */
function adviceOf(
  code: string | undefined,
  status: number | undefined,
  { bucket, region, names }: S3Place,
): FailureWords | undefined {
  const [access, secret] = names.keys;
  const place = `Correct ${names.region} (auto for R2, a name such as eu-central-1 for AWS) and ${names.endpoint}: they must be those of the bucket.`;
  switch (code) {
    case "InvalidAccessKeyId":
      return ["the service does not know the access key", `Correct ${access}.`];
    case "SignatureDoesNotMatch":
      return ["the secret key is wrong", `Correct ${secret}.`];
    case "NoSuchBucket":
      return [
        "there is no such bucket",
        `Create it: \`npx wrangler r2 bucket create ${bucket}\` for R2, \`aws s3 mb s3://${bucket}\` for AWS.`,
      ];
    case "AuthorizationHeaderMalformed":
    case "InvalidRegionName":
      return [`the bucket is not in the region ${region}`, place];
  }
  if (isRedirect(status)) return ["the service redirects requests, and redirects are not followed", place];
  if (status !== 401 && status !== 403) return undefined;
  return [
    "access was refused",
    `Check ${access} and ${secret}, and that this key may read (to publish, also write) and list the bucket ${bucket}. Without s3:ListBucket, S3 refuses access to objects that are not there.`,
  ];
}
