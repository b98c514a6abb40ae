import type * as Sdk from "@aws-sdk/client-s3";
import { importError } from "../artifact/optional-package.ts";
import type { S3Options } from "./s3.ts";
import { boundedCollector } from "./s3-bounds.ts";

export type S3PublisherOptions = Omit<S3Options, "fetch" | "accessKeyId" | "secretAccessKey" | "endpoint"> &
  Partial<Pick<S3Options, "accessKeyId" | "secretAccessKey" | "endpoint">> & {
    /** Size in bytes of the parts in which larger objects are sent. S3 takes 5 MiB at least. Default 8 MiB. */
    partBytes?: number;
  };

/** A client of the AWS SDK, and the classes of its commands. */
export interface Connection extends Omit<typeof Sdk, "S3Client"> {
  readonly client: Sdk.S3Client;
}

/** @throws BertEdgeError `package_missing` */
export async function connect({
  endpoint,
  accessKeyId,
  secretAccessKey,
  sessionToken,
  ...options
}: S3PublisherOptions): Promise<Connection> {
  const { S3Client, ...commands } = await clientS3();
  // Services other than AWS have a single region, but the SDK requires a region name.
  const region = options.region ?? process.env["AWS_REGION"] ?? (endpoint ? "auto" : undefined);
  const client = new S3Client({
    ...(region && { region }),
    ...(endpoint && { endpoint, forcePathStyle: true }),
    ...(accessKeyId &&
      secretAccessKey && { credentials: { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) } }),
    // The SDK's default checksums split the body into framed chunks. Services other than AWS store the frames as content.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    streamCollector: boundedCollector,
  });
  return { client, ...commands };
}

async function clientS3() {
  try {
    return await import("@aws-sdk/client-s3");
  } catch (error) {
    throw importError("@aws-sdk/client-s3", error);
  }
}
