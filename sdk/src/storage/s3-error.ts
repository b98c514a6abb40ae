import type { BertEdgeError } from "../artifact/error.ts";
import { isRedirect } from "./is-redirect.ts";
import { storageError } from "./storage-error.ts";

/** Error codes of answers that no sound service gives. */
export const ANSWER_TOO_LARGE = "AnswerTooLarge";
export const ENDLESS_LIST = "EndlessList";
export const CUT_LIST = "CutList";

/** An S3 store, as error messages describe it. */
export interface S3Place {
  readonly bucket: string;
  /** Settings that hold the access key, and the secret key: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`. */
  readonly keys: readonly [access: string, secret: string];
}

/** A failed request: the error code and HTTP status of the service, or the error of the client. */
interface S3Failure {
  readonly code?: string | undefined;
  readonly status?: number | undefined;
  readonly cause?: unknown;
}

/** Makes the error of a failed S3 request. The hint names the setting or the command that helps. */
export function s3Error(place: S3Place, key: string, { code, status, cause }: S3Failure): BertEdgeError {
  const answer = status === undefined ? undefined : `HTTP ${status}${code ? ` ${code}` : ""}`;
  const [what, hint] = adviceOf(code, status, place) ?? [];
  const parts = [what, answer].filter((part) => part !== undefined);
  return storageError(`s3(${place.bucket})`, key, parts.join(", ") || String(cause), { cause, hint });
}

const ANOTHER_SERVICE = "Correct the endpoint: no S3 service answers so. If it is right, report this to its operator.";

/** Returns what happened and what to do; undefined for failures that only the service can explain. */
function adviceOf(
  code: string | undefined,
  status: number | undefined,
  { bucket, keys: [access, secret] }: S3Place,
): readonly [what: string, hint: string] | undefined {
  switch (code) {
    case "CredentialsProviderError":
      return ["there are no credentials", `Set ${access} and ${secret}.`];
    case "InvalidAccessKeyId":
      return ["the service does not know the access key", `Correct ${access}.`];
    case "SignatureDoesNotMatch":
      return ["the secret key is wrong", `Correct ${secret}.`];
    case "NoSuchBucket":
      return [
        "there is no such bucket",
        `Create it: \`npx wrangler r2 bucket create ${bucket}\` for R2, \`aws s3 mb s3://${bucket}\` for AWS.`,
      ];
    case "RegionMissing":
      return [
        "there is no region",
        "For R2, give --endpoint https://<account>.r2.cloudflarestorage.com. For AWS, set AWS_REGION.",
      ];
    case "PermanentRedirect":
    case "AuthorizationHeaderMalformed":
      return ["the bucket is in another region", "Set AWS_REGION to the bucket's region."];
    case ANSWER_TOO_LARGE:
      return ["the answer is too large", ANOTHER_SERVICE];
    case ENDLESS_LIST:
      return ["the list does not end", ANOTHER_SERVICE];
    case CUT_LIST:
      return ["the list is cut off, and the answer does not say where it goes on", ANOTHER_SERVICE];
    case "ERR_INVALID_URL":
      return ["the endpoint is not a URL", "Give an endpoint such as https://<account>.r2.cloudflarestorage.com."];
    case "ECONNREFUSED":
    case "ENOTFOUND":
      return [
        "nothing answers at this address",
        "Correct the endpoint: --endpoint, AWS_ENDPOINT_URL_S3 or S3_ENDPOINT.",
      ];
  }
  if (isRedirect(status)) {
    return [
      "the service redirects requests, and redirects are not followed",
      "Correct S3_ENDPOINT and AWS_REGION: they must be the address and the region of the bucket itself.",
    ];
  }
  if (status !== 401 && status !== 403) return undefined;
  return [
    "access was refused",
    `Check ${access} and ${secret}, and that this key may read and write the bucket ${bucket}.`,
  ];
}
