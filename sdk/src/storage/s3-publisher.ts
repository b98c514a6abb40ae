import { keyPrefix } from "../artifact/keys.ts";
import { isSameWrite } from "./is-same-write.ts";
import { assertUnchanged, publishConflict } from "./publish-conflict.ts";
import type { S3Options } from "./s3.ts";
import { type Connection, connect, type S3PublisherOptions } from "./s3-connection.ts";
import { type S3Place, s3Error } from "./s3-error.ts";
import { inParts, MIN_BYTES_IN_PARTS, unfinishedUploads } from "./s3-parts.ts";
import type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore } from "./store.ts";

export type {
  ManagedStore,
  ObjectStore,
  PutOptions,
  S3Options,
  S3PublisherOptions,
  StoredObject,
  UnfinishedUpload,
  WritableStore,
};

/** A response to HEAD gives the time in whole seconds. Some services list it in ms. */
const HEAD_CLOCK_MS = 1000;

/**
 * Reads and writes over the S3 protocol with the AWS SDK. Without keys, the SDK finds credentials itself (environment, profile,
 * instance role). Without an endpoint, it talks to AWS.
 *
 * The first use of the store imports the optional package `@aws-sdk/client-s3`, and throws `package_missing` without it.
 */
export function s3Publisher(options: S3PublisherOptions): ManagedStore {
  const { bucket, timeoutMs = 600_000 } = options;
  const prefix = keyPrefix(options.prefix ?? "");
  const hasKeys = options.accessKeyId && options.secretAccessKey;
  const place: S3Place = {
    bucket,
    keys: hasKeys ? ["accessKeyId", "secretAccessKey"] : ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  };
  let connection: Promise<Connection> | undefined;
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const late = () => ({ abortSignal: AbortSignal.timeout(timeoutMs) });

  async function request<T>(key: string, send: (connection: Connection) => Promise<T>): Promise<T> {
    connection ??= connect(options);
    const connected = await connection;
    try {
      return await send(connected);
    } catch (error) {
      throw s3Error(place, key, failureOf(error));
    }
  }

  const name = `s3(${bucket})`;
  const head = (key: string): Promise<StoredObject | undefined> =>
    request(key, ({ client, HeadObjectCommand }) => client.send(new HeadObjectCommand(at(key)), late())).then(
      (found) => described(key, found),
      ifAbsent(undefined),
    );

  return {
    name,
    timeoutMs,
    open: (key, abortSignal) =>
      request(key, ({ client, GetObjectCommand }) => client.send(new GetObjectCommand(at(key)), { abortSignal })).then(
        ({ Body }) => Body?.transformToWebStream(),
        ifAbsent(undefined),
      ),
    async put(key, bytes, { contentType, replaces }) {
      const object = { ...at(key), ContentType: contentType };
      if (bytes.length > MIN_BYTES_IN_PARTS && replaces === undefined) {
        return request(key, (connection) => inParts(connection, object, bytes, late));
      }
      // Some services ignore the conditions of a PutObject, so this looks first.
      if (replaces !== undefined) assertUnchanged(name, key, await head(key), replaces);
      const condition = replaces ? { IfMatch: replaces.etag } : replaces === null && { IfNoneMatch: "*" };
      const put = ({ client, PutObjectCommand }: Connection) =>
        client.send(new PutObjectCommand({ ...object, ...condition, Body: bytes }), late());
      await request(key, put).catch((error: unknown) => {
        throw conflicts.has(causeOf(error)) ? publishConflict(name, key) : error;
      });
    },
    head,
    async *list(keys) {
      let token: string | undefined;
      do {
        const input = { Bucket: bucket, Prefix: prefix + keys, ContinuationToken: token };
        const page = await request(keys, ({ client, ListObjectsV2Command }) =>
          client.send(new ListObjectsV2Command(input), late()),
        );
        for (const { Key = "", ...found } of page.Contents ?? []) {
          yield described(Key.slice(prefix.length), { ...found, ContentLength: found.Size });
        }
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },
    async remove(key, only) {
      if (only && !isSameWrite(await head(key), only, HEAD_CLOCK_MS)) return false;
      await request(key, ({ client, DeleteObjectCommand }) => client.send(new DeleteObjectCommand(at(key)), late()));
      return true;
    },
    async *unfinished() {
      const uploads = await request(prefix, (connection) => unfinishedUploads(connection, bucket, prefix, late));
      for (const { key, began, abort } of uploads) {
        yield { key: key.slice(prefix.length), began, abort: () => request(key, abort) };
      }
    },
  };
}

/** What the service says of an object. */
interface Description {
  readonly ContentLength?: number | undefined;
  readonly LastModified?: Date | undefined;
  readonly ETag?: string | undefined;
}

const described = (key: string, { ContentLength, LastModified, ETag }: Description): StoredObject => ({
  key,
  size: ContentLength ?? 0,
  modified: LastModified ?? new Date(0),
  etag: ETag ?? "",
});

/** Answers of a service that refuses a PutObject because of its condition. */
const conflicts = new Set(["PreconditionFailed", "ConditionalRequestConflict"]);

/** Handles a failed request: returns `value` if there is no object under the key, otherwise throws the error again. */
const ifAbsent =
  <T>(value: T) =>
  (error: unknown): T => {
    const name = causeOf(error);
    if (name === "NoSuchKey" || name === "NotFound") return value;
    throw error;
  };

/** Returns the SDK's name for the cause of a failed request. */
const causeOf = (error: unknown): string => String(Object(Object(error).cause).name);

/** Reads the error code and the HTTP status from an error of the SDK. A response to HEAD has no body, only a status. */
function failureOf(error: unknown) {
  const { name, code, message, $metadata } = Object(error) as {
    [key in "name" | "code" | "message"]?: string;
  } & { $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (message === "Region is missing") return { code: "RegionMissing", cause: error };
  const isOfService = status !== undefined || name === "CredentialsProviderError";
  return { code: isOfService ? name : code, status, cause: error };
}
