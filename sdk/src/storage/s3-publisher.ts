import {
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import type { S3Options } from "./s3.ts";
import { storageError } from "./storage-error.ts";
import type { WritableStore } from "./store.ts";

export type S3PublisherOptions = Omit<S3Options, "fetch" | "accessKeyId" | "secretAccessKey" | "endpoint"> &
  Partial<Pick<S3Options, "accessKeyId" | "secretAccessKey" | "endpoint">>;

/**
 * Reads and writes over the S3 protocol through the AWS SDK. Without keys the SDK looks for credentials where it
 * always does (environment, profile, instance role); without an endpoint it talks to AWS.
 */
export function s3Publisher(options: S3PublisherOptions): WritableStore {
  const { bucket, prefix = "", endpoint, timeoutMs = 600_000 } = options;
  // Stores other than AWS's have one region, and the SDK wants a name for it.
  const region = options.region ?? process.env["AWS_REGION"] ?? (endpoint ? "auto" : undefined);
  const client = new S3Client({
    ...(region && { region }),
    ...(endpoint && { endpoint, forcePathStyle: true }),
    ...(options.accessKeyId &&
      options.secretAccessKey && {
        credentials: {
          accessKeyId: options.accessKeyId,
          secretAccessKey: options.secretAccessKey,
          ...(options.sessionToken && { sessionToken: options.sessionToken }),
        },
      }),
    // Servers other than AWS's store the chunk framing of the SDK's default trailing checksums as content.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const name = `s3(${bucket})`;
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const late = () => ({ abortSignal: AbortSignal.timeout(timeoutMs) });
  const absent = (error: unknown) => error instanceof NoSuchKey || error instanceof NotFound;

  return {
    name,
    timeoutMs,
    async open(key, abortSignal) {
      try {
        const { Body } = await client.send(new GetObjectCommand(at(key)), { abortSignal });
        return Body?.transformToWebStream();
      } catch (error) {
        if (absent(error)) return undefined;
        throw error;
      }
    },
    async put(key, bytes, { contentType }) {
      try {
        await client.send(new PutObjectCommand({ ...at(key), Body: bytes, ContentType: contentType }), late());
      } catch (error) {
        throw storageError(name, key, reasonOf(error), error);
      }
    },
    async has(key) {
      try {
        await client.send(new HeadObjectCommand(at(key)), late());
        return true;
      } catch (error) {
        if (absent(error)) return false;
        throw storageError(name, key, reasonOf(error), error);
      }
    },
  };
}

/** With the status: answers without a body, as those to HEAD, say nothing else. */
function reasonOf(error: unknown): string {
  const { httpStatusCode } = Object(Object(error).$metadata) as { httpStatusCode?: number };
  return httpStatusCode === undefined ? String(error) : `HTTP ${httpStatusCode}, ${error}`;
}
