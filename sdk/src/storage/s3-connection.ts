import type * as Sdk from "@aws-sdk/client-s3";
import { importError } from "../artifact/optional-package.ts";
import type { S3Options } from "./s3.ts";
import { assertRegion, type S3SettingNames, s3Location } from "./s3-address.ts";
import { ANSWER_TOO_LARGE, boundedCollector, CUT_LIST, ENDLESS_LIST } from "./s3-bounds.ts";
import type { FailureWords, S3Place } from "./s3-error.ts";

export type S3PublisherOptions = Omit<S3Options, "fetch" | "accessKeyId" | "secretAccessKey" | "endpoint"> &
  Partial<Pick<S3Options, "accessKeyId" | "secretAccessKey" | "endpoint">> & {
    /** Size of the parts in which large objects are sent, in bytes. S3 accepts at least 5 MiB. Default 8 MiB. */
    partBytes?: number;
    /**
     * Whether nobody else publishes to the bucket at the same time. Then pointers are written unconditionally, for services that refuse
     * or ignore conditional writes. Default false.
     */
    singlePublisher?: boolean;
    /** Names of the settings in messages. Default: the names of the options, or of the variables that were read. */
    names?: Partial<S3SettingNames>;
  };

/** A client of the AWS SDK, and the classes of its commands. */
export interface Connection extends Omit<typeof Sdk, "S3Client"> {
  readonly client: Sdk.S3Client;
}

/**
 * Reads the location of the bucket from the options and the environment. The SDK reads the same variables. But it does not know that
 * R2 has no AWS region, and that few services other than AWS have a host name for each bucket.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export function publisherPlace(options: S3PublisherOptions, env: NodeJS.ProcessEnv = process.env): S3Place {
  const { bucket, region, accessKeyId, secretAccessKey } = options;
  const AWS_REGION = env["AWS_REGION"] || undefined;
  const profile = env["AWS_PROFILE"];
  const [variable] =
    env["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"] === "true"
      ? []
      : ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"].filter((name) => env[name]);
  const ofProfile = (name: string) => `${name} of the AWS profile ${profile}`;
  const names: S3SettingNames = {
    bucket: "bucket",
    region: "region",
    keys:
      accessKeyId && secretAccessKey
        ? ["accessKeyId", "secretAccessKey"]
        : profile
          ? [ofProfile("aws_access_key_id"), ofProfile("aws_secret_access_key")]
          : ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
    ...options.names,
    endpoint: options.endpoint === undefined && variable ? variable : (options.names?.endpoint ?? "endpoint"),
  };
  const endpoint = options.endpoint ?? (variable && env[variable]);
  assertRegion(AWS_REGION, "AWS_REGION");
  if (endpoint !== undefined) {
    return { ...s3Location({ endpoint, bucket, region, otherwise: AWS_REGION ?? "auto" }, names), names };
  }
  assertRegion(region, names.region);
  return { bucket, region: region ?? AWS_REGION, names };
}

/**
 * Imports the AWS SDK, and makes a client for the bucket's place.
 *
 * @throws BertEdgeError `package_missing`
 */
export async function connect(
  { endpoint, region }: S3Place,
  { accessKeyId, secretAccessKey, sessionToken }: S3PublisherOptions,
): Promise<Connection> {
  const { S3Client, ...commands } = await clientS3();
  const client = new S3Client({
    ...(region && { region }),
    ...(endpoint && { endpoint }),
    // Few services other than AWS have a host name for each bucket. Without `endpoint`, the AWS profile can name such a service.
    forcePathStyle: true,
    ...(accessKeyId &&
      secretAccessKey && { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }),
    // The SDK's default checksums split the body into framed chunks. Services other than AWS store the frames as content.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    streamCollector: boundedCollector,
  });
  return { client, ...commands };
}

/** Returns what happened and what to do, for failures that only publishers have. These texts are not in the bundles of readers. */
export function publisherAdvice(code: string | undefined, { endpoint, names }: S3Place): FailureWords | undefined {
  const [access, secret] = names.keys;
  const anotherService = `Correct ${names.endpoint}: no S3 service answers like this. If it is right, tell the service's operator.`;
  switch (code) {
    case "CredentialsProviderError":
      return ["there are no credentials", `Set ${access} and ${secret}.`];
    case "RegionMissing":
      return [
        "there is no region",
        `For R2, set ${names.endpoint} to https://<account>.r2.cloudflarestorage.com. For AWS, set ${names.region}.`,
      ];
    case ANSWER_TOO_LARGE:
      return ["the answer is too large", anotherService];
    case ENDLESS_LIST:
      return ["the list does not end", anotherService];
    case CUT_LIST:
      return ["the list is cut off, and the answer does not say where it goes on", anotherService];
    case "ECONNREFUSED":
    case "ENOTFOUND":
      return [
        `nothing answers at ${endpoint ?? "AWS's address, or that of the AWS profile"}`,
        `Correct ${endpoint ? names.endpoint : `${names.region}, or endpoint_url of the AWS profile`}.`,
      ];
  }
  return undefined;
}

async function clientS3() {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    throw importError("@aws-sdk/client-s3", error);
  }
}
