import { AwsClient } from "aws4fetch";
import { keyPrefix, urlPath } from "../artifact/keys.ts";
import { boundedText } from "./bounded-text.ts";
import { readingCheckedKeys } from "./checked-keys.ts";
import { rangeHeader, rangeOf } from "./http-response.ts";
import { readerNames, s3Location } from "./s3-address.ts";
import { s3Error } from "./s3-error.ts";
import type { ObjectStore } from "./store.ts";

export type { ObjectStore };

export interface S3Options {
  /**
   * Address of the service, e.g. `https://<account>.r2.cloudflarestorage.com` or
   * `https://s3.eu-central-1.amazonaws.com`. It may end with the bucket.
   */
  endpoint: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  /** Region of the bucket, which is `auto` for R2. Default: the region that the endpoint names, or `auto`. */
  region?: string;
  /** Folder of the objects in the bucket, e.g. `team-a`. Default: the root of the bucket. */
  prefix?: string;
  /** Time limit for reading a whole object, in ms. Default 30,000. */
  timeoutMs?: number;
  fetch?: typeof fetch;
}

/** Maximum size of an error's body that is read, in bytes. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Reads models over the S3 protocol, with path-style URLs. Adds 3 KB to a gzipped bundle. `s3Publisher` can also write,
 * but uses the AWS SDK and adds 85 KB.
 *
 * @throws BertEdgeError `setting_invalid` for an endpoint, a bucket or a region that cannot be right
 */
export function s3Store(options: S3Options): ObjectStore {
  const { timeoutMs } = options;
  // Keys with a session token belong to an AWS role. AWS sets these variables, so messages name them.
  const keys = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;
  const names = options.sessionToken ? { ...readerNames, keys } : readerNames;
  const place = { ...s3Location({ ...options, otherwise: "auto" }, names), names };
  const { endpoint, bucket, region = "auto" } = place;
  const prefix = keyPrefix(options.prefix ?? "");
  const send: typeof fetch = options.fetch ?? ((request, init) => fetch(request, init));
  const signer = new AwsClient({
    accessKeyId: options.accessKeyId,
    secretAccessKey: options.secretAccessKey,
    ...(options.sessionToken && { sessionToken: options.sessionToken }),
    service: "s3",
    region,
  });
  return readingCheckedKeys({
    name: `s3(${bucket})`,
    timeoutMs,
    async open(key, signal, range) {
      const path = urlPath(`${bucket}/${prefix}${key}`);
      const request = await signer.sign(`${endpoint}/${path}`, range && { headers: rangeHeader(range) });
      // Following a redirect would send the signature to another address, where it is not valid.
      const response = await send(request, { signal, redirect: "manual" });
      if (response.ok) return rangeOf(response, range);
      const code = /<Code>(\w+)<\/Code>/.exec((await boundedText(response, MAX_ERROR_BYTES)) ?? "")?.[1];
      if (response.status === 404 && code !== "NoSuchBucket") return undefined;
      throw s3Error(place, key, { code, status: response.status });
    },
  });
}
