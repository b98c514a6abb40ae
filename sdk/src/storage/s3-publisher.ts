import { keyPrefix } from "../artifact/keys.ts";
import { optionalPackage } from "../artifact/optional-package.ts";
import type { S3Options } from "./s3.ts";
import { type S3Place, s3Error } from "./s3-error.ts";
import type { ObjectStore, WritableStore } from "./store.ts";

export type { ObjectStore, S3Options, WritableStore };

export type S3PublisherOptions = Omit<S3Options, "fetch" | "accessKeyId" | "secretAccessKey" | "endpoint"> &
  Partial<Pick<S3Options, "accessKeyId" | "secretAccessKey" | "endpoint">>;

/**
 * Reads and writes over the S3 protocol with the AWS SDK. Without keys, the SDK finds credentials itself (environment, profile,
 * instance role). Without an endpoint, it talks to AWS.
 *
 * The first use of the store imports the optional package `@aws-sdk/client-s3`, and throws `package_missing` without it.
 */
export function s3Publisher(options: S3PublisherOptions): WritableStore {
  const { bucket, timeoutMs = 600_000 } = options;
  const prefix = keyPrefix(options.prefix ?? "");
  const hasKeys = options.accessKeyId && options.secretAccessKey;
  const place: S3Place = {
    bucket,
    keys: hasKeys ? ["accessKeyId", "secretAccessKey"] : ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"],
  };
  let connection: ReturnType<typeof connect> | undefined;
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key });

  /** Sends one request. Returns undefined when there is no object under `key`. */
  async function request<T>(
    key: string,
    abortSignal: AbortSignal,
    send: (connection: Awaited<ReturnType<typeof connect>>, options: { abortSignal: AbortSignal }) => Promise<T>,
  ): Promise<T | undefined> {
    connection ??= connect(options);
    const connected = await connection;
    try {
      return await send(connected, { abortSignal });
    } catch (error) {
      const failure = failureOf(error);
      if (failure.code === "NoSuchKey" || failure.code === "NotFound") return undefined;
      throw s3Error(place, key, failure);
    }
  }
  const late = () => AbortSignal.timeout(timeoutMs);

  return {
    name: `s3(${bucket})`,
    timeoutMs,
    async open(key, signal) {
      const found = await request(key, signal, ({ client, GetObjectCommand }, how) =>
        client.send(new GetObjectCommand(at(key)), how),
      );
      return found?.Body?.transformToWebStream();
    },
    async put(key, bytes, { contentType }) {
      await request(key, late(), ({ client, PutObjectCommand }, how) =>
        client.send(new PutObjectCommand({ ...at(key), Body: bytes, ContentType: contentType }), how),
      );
    },
    async has(key) {
      const found = await request(key, late(), ({ client, HeadObjectCommand }, how) =>
        client.send(new HeadObjectCommand(at(key)), how),
      );
      return found !== undefined;
    },
  };
}

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
