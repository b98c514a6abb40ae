import {
  GetObjectCommand,
  HeadObjectCommand,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { keyPrefix } from "../artifact/keys.ts";
import type { S3Options } from "./s3.ts";
import { storageError } from "./storage-error.ts";
import type { ObjectStore, WritableStore } from "./store.ts";

export type { ObjectStore, S3Options, WritableStore };

export type S3PublisherOptions = Omit<S3Options, "fetch" | "accessKeyId" | "secretAccessKey" | "endpoint"> &
  Partial<Pick<S3Options, "accessKeyId" | "secretAccessKey" | "endpoint">>;

/**
 * Reads and writes over the S3 protocol with the AWS SDK. Without keys, the SDK finds credentials itself (environment, profile,
 * instance role). Without an endpoint, it talks to AWS.
 */
export function s3Publisher(options: S3PublisherOptions): WritableStore {
  const { bucket, endpoint, timeoutMs = 600_000 } = options;
  const prefix = keyPrefix(options.prefix ?? "");
  // Services other than AWS have a single region, but the SDK requires a region name.
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
    // The SDK's default checksums split the body into framed chunks. Services other than AWS store the frames as content.
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

/** Describes a failure by its HTTP status. A response to HEAD has no body, so nothing else is known. */
function reasonOf(error: unknown): string {
  const { httpStatusCode } = Object(Object(error).$metadata) as { httpStatusCode?: number };
  return httpStatusCode === undefined ? String(error) : `HTTP ${httpStatusCode}, ${error}`;
}
