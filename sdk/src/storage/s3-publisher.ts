import { keyPrefix } from "../artifact/keys.ts";
import { optionalPackage } from "../artifact/optional-package.ts";
import type { S3Options } from "./s3.ts";
import { type S3Place, s3Error } from "./s3-error.ts";
import type { ManagedStore, ObjectStore, StoredObject, WritableStore } from "./store.ts";

export type { ManagedStore, ObjectStore, S3Options, StoredObject, WritableStore };

export type S3PublisherOptions = Omit<S3Options, "fetch" | "accessKeyId" | "secretAccessKey" | "endpoint"> &
  Partial<Pick<S3Options, "accessKeyId" | "secretAccessKey" | "endpoint">>;

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

  return {
    name: `s3(${bucket})`,
    timeoutMs,
    open: (key, abortSignal) =>
      request(key, ({ client, GetObjectCommand }) => client.send(new GetObjectCommand(at(key)), { abortSignal })).then(
        ({ Body }) => Body?.transformToWebStream(),
        ifAbsent(undefined),
      ),
    async put(key, bytes, { contentType }) {
      await request(key, ({ client, PutObjectCommand }) =>
        client.send(new PutObjectCommand({ ...at(key), Body: bytes, ContentType: contentType }), late()),
      );
    },
    size: (key) =>
      request(key, ({ client, HeadObjectCommand }) => client.send(new HeadObjectCommand(at(key)), late())).then(
        ({ ContentLength }) => ContentLength,
        ifAbsent(undefined),
      ),
    async *list(keys) {
      let token: string | undefined;
      do {
        const input = { Bucket: bucket, Prefix: prefix + keys, ContinuationToken: token };
        const page = await request(keys, ({ client, ListObjectsV2Command }) =>
          client.send(new ListObjectsV2Command(input), late()),
        );
        for (const { Key = "", Size: size = 0, LastModified: modified = new Date(0) } of page.Contents ?? []) {
          yield { key: Key.slice(prefix.length), size, modified };
        }
        token = page.IsTruncated ? page.NextContinuationToken : undefined;
      } while (token !== undefined);
    },
    async remove(key) {
      await request(key, ({ client, DeleteObjectCommand }) => client.send(new DeleteObjectCommand(at(key)), late()));
    },
  };
}

/** Handles a failed request: returns `value` if there is no object under the key, otherwise throws the error again. */
const ifAbsent =
  <T>(value: T) =>
  (error: unknown): T => {
    const { name } = Object(Object(error).cause) as { name?: unknown };
    if (name === "NoSuchKey" || name === "NotFound") return value;
    throw error;
  };

type Connection = Awaited<ReturnType<typeof connect>>;

/** @throws BertEdgeError `package_missing` */
async function connect({ endpoint, accessKeyId, secretAccessKey, sessionToken, ...options }: S3PublisherOptions) {
  const { S3Client, ...commands } = await optionalPackage("@aws-sdk/client-s3", () => import("@aws-sdk/client-s3"));
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
  });
  return { client, ...commands };
}

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
