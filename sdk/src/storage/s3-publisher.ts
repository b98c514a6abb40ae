import type { GetObjectCommandOutput, PutObjectCommandInput } from "@aws-sdk/client-s3";
import { BertEdgeError } from "../artifact/error.ts";
import { keyPrefix } from "../artifact/keys.ts";
import { withCheckedKeys } from "./checked-keys.ts";
import { onlyBytes, rangeHeader } from "./http-response.ts";
import { assertUnchanged, conditionalWritesMissing, isSameWrite, publishConflict } from "./publish-conflict.ts";
import type { S3Options } from "./s3.ts";
import type { S3SettingNames } from "./s3-address.ts";
import { ANSWER_TOO_LARGE, collected, nextToken, pageCounter } from "./s3-bounds.ts";
import { type Connection, connect, publisherAdvice, publisherPlace, type S3PublisherOptions } from "./s3-connection.ts";
import { s3Error } from "./s3-error.ts";
import { inParts, MIN_PARTS, PART_BYTES, unfinishedUploads } from "./s3-parts.ts";
import type { ManagedStore, ObjectStore, PutOptions, StoredObject, UnfinishedUpload, WritableStore } from "./store.ts";

export type {
  ManagedStore,
  ObjectStore,
  PutOptions,
  S3Options,
  S3PublisherOptions,
  S3SettingNames,
  StoredObject,
  UnfinishedUpload,
  WritableStore,
};

/** Precision in ms of the time in a response to HEAD: whole seconds. Lists of some services have milliseconds. */
const HEAD_CLOCK_MS = 1000;

/**
 * Reads and writes over the S3 protocol with the AWS SDK. Without keys, the SDK finds credentials itself (environment, profile,
 * instance role). Without an endpoint, it takes AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, or talks to AWS.
 *
 * @throws BertEdgeError `setting_invalid` for an endpoint, a bucket or a region that cannot be right
 *
 * The first use of the store imports the optional package `@aws-sdk/client-s3`, and throws `package_missing` without it.
 */
export function s3Publisher(options: S3PublisherOptions): ManagedStore {
  const { bucket, timeoutMs = 600_000, partBytes = PART_BYTES, singlePublisher = false } = options;
  const prefix = keyPrefix(options.prefix ?? "");
  const place = publisherPlace(options);
  let connection: Promise<Connection> | undefined;
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });
  const late = () => ({ abortSignal: AbortSignal.timeout(timeoutMs) });

  async function request<T>(key: string, send: Send<T>): Promise<T>;
  /** Resolves to undefined if the service answers with one of the `expected` errors. */
  async function request<T>(key: string, send: Send<T>, expected: ReadonlySet<string>): Promise<T | undefined>;
  async function request<T>(key: string, send: Send<T>, expected?: ReadonlySet<string>): Promise<T | undefined> {
    connection ??= connect(place, options);
    const connected = await connection;
    try {
      return await send(connected);
    } catch (error) {
      if (error instanceof BertEdgeError) throw error;
      if (expected?.has(Object(error).name)) return undefined;
      const failure = failureOf(error);
      throw s3Error(place, key, { ...failure, advice: publisherAdvice(failure.code, place) });
    }
  }

  const name = `s3(${bucket})`;
  async function head(key: string): Promise<StoredObject | undefined> {
    const ask: Send<Description> = ({ client, HeadObjectCommand }) =>
      client.send(new HeadObjectCommand(at(key)), late());
    const found = await request(key, ask, ABSENT);
    return found && described(key, found);
  }

  const remove = (key: string) =>
    request(key, ({ client, DeleteObjectCommand }) => client.send(new DeleteObjectCommand(at(key)), late()));

  /** Writes an object under a condition. Resolves to `unknown` if the service does not implement the condition. */
  const putIf =
    (input: PutObjectCommandInput): Send<"written" | "unknown"> =>
    async ({ client, PutObjectCommand }) => {
      try {
        await client.send(new PutObjectCommand(input), late());
        return "written";
      } catch (error) {
        if (Object(error).name === "NotImplemented") return "unknown";
        throw error;
      }
    };

  /** Writes an object if the present one is still `replaces`. */
  async function replace(
    key: string,
    input: PutObjectCommandInput & { Body: Uint8Array },
    replaces: StoredObject | null,
  ): Promise<void> {
    // With `singlePublisher`, the write below has no condition, so this comparison comes first.
    assertUnchanged(name, key, await head(key), replaces);
    const condition = singlePublisher ? {} : replaces ? { IfMatch: replaces.etag } : { IfNoneMatch: "*" };
    let answer = await request(key, putIf({ ...input, ...condition }), REFUSED);
    if (answer === undefined && replaces && (await head(key))?.etag === replaces.etag) {
      // Ceph compares the header with an ETag without quotes, so this tries again without them.
      answer = await request(key, putIf({ ...input, IfMatch: replaces.etag.replaceAll('"', "") }), REFUSED);
    }
    if (answer === "unknown") throw conditionalWritesMissing(name, "refuses");
    // Only the present object shows who has won. A refusal does not: the SDK repeats a write whose answer was lost, and the first write
    // makes the second one fail.
    const read: Send<Uint8Array | undefined> = async ({ client, GetObjectCommand }) => {
      const { Body } = await client.send(new GetObjectCommand(at(key)), late());
      return Body && collected(Body.transformToWebStream(), input.Body.length);
    };
    const now = await request(key, read, OTHER);
    if (!now || Buffer.compare(now, input.Body) !== 0) throw publishConflict(name, key);
  }

  return withCheckedKeys({
    name,
    timeoutMs,
    async open(key, abortSignal, range) {
      const part = range && { Range: rangeHeader(range).range };
      const get: Send<GetObjectCommandOutput> = ({ client, GetObjectCommand }) =>
        client.send(new GetObjectCommand({ ...at(key), ...part }), { abortSignal });
      const { Body, ContentRange } = (await request(key, get, ABSENT)) ?? {};
      const stream = Body?.transformToWebStream();
      return range && !ContentRange ? stream?.pipeThrough(onlyBytes(range)) : stream;
    },
    async put(key, Body, { contentType, replaces }) {
      const object = { ...at(key), ContentType: contentType };
      if (replaces !== undefined) return replace(key, { ...object, Body }, replaces);
      if (Body.length > MIN_PARTS * partBytes) {
        const before = await head(key);
        const hasArrived = async () => {
          const now = await head(key);
          return now?.size === Body.length && !(before && isSameWrite(now, before, HEAD_CLOCK_MS));
        };
        return request(key, (connection) => inParts(connection, object, Body, { partBytes, late, hasArrived }));
      }
      await request(key, ({ client, PutObjectCommand }) =>
        client.send(new PutObjectCommand({ ...object, Body }), late()),
      );
    },
    head,
    async assertConditional(key) {
      if (singlePublisher) return;
      // No object has this ETag, so a service that obeys conditions refuses the write.
      const probe = () => request(key, putIf({ ...at(key), Body: new Uint8Array(), IfMatch: '"0"' }), UNMET);
      let answer = await probe();
      if (answer === "written") {
        // Some services check the condition only if the key has an object. The second write finds the object of the first one.
        answer = await probe();
        // Some access keys may not remove objects.
        await remove(key).catch(() => {});
      }
      if (answer) throw conditionalWritesMissing(name, answer === "written" ? "ignores" : "refuses");
    },
    async *list(keys) {
      let token: string | undefined;
      const count = pageCounter();
      do {
        const input = { Bucket: bucket, Prefix: prefix + keys, ContinuationToken: token };
        const { objects, next } = await request(keys, async ({ client, ListObjectsV2Command }) => {
          count(input.ContinuationToken);
          const page = await client.send(new ListObjectsV2Command(input), late());
          return { objects: page.Contents ?? [], next: nextToken(page, page.NextContinuationToken) };
        });
        for (const { Key = "", ...found } of objects) {
          yield described(Key.slice(prefix.length), { ...found, ContentLength: found.Size });
        }
        token = next;
      } while (token !== undefined);
    },
    async remove(key, only) {
      if (only && !isSameWrite(await head(key), only, HEAD_CLOCK_MS)) return false;
      await remove(key);
      return true;
    },
    async *unfinished(keys) {
      const uploads = await request(keys, (connection) => unfinishedUploads(connection, bucket, prefix + keys, late));
      for (const { key, began, abort } of uploads) {
        yield { key: key.slice(prefix.length), began, abort: () => request(key, abort) };
      }
    },
  });
}

type Send<T> = (connection: Connection) => Promise<T>;

/** Error codes for a key without an object. */
const ABSENT: ReadonlySet<string> = new Set(["NoSuchKey", "NotFound"]);

/** Error codes that show that the key does not have the object that was just written, but a larger one or none. */
const OTHER: ReadonlySet<string> = new Set([...ABSENT, ANSWER_TOO_LARGE]);

/** Error codes of a PutObject that was refused because of its condition. */
const REFUSED: ReadonlySet<string> = new Set(["PreconditionFailed", "ConditionalRequestConflict"]);

/** Error codes of a service that obeys conditions, for a condition that no object meets. */
const UNMET: ReadonlySet<string> = new Set([...REFUSED, ...ABSENT]);

/** The service's description of an object. */
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
