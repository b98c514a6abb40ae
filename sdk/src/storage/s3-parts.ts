import { createHash } from "node:crypto";
import type {
  CompletedPart,
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
} from "@aws-sdk/client-s3";
import { sideBySide } from "../artifact/side-by-side.ts";
import { pageCounter } from "./s3-bounds.ts";
import type { Connection } from "./s3-connection.ts";

/** Default size of a part, in bytes. S3 accepts parts of at least 5 MiB, and at most 10,000 parts. */
export const PART_BYTES = 8 * 1024 * 1024;
/** Maximum size, in parts, of an object that is sent in one request. Larger objects are sent in parts. */
export const MIN_PARTS = 2;
/** Maximum number of parts that are sent at the same time. */
const PARALLEL = 4;
/** Maximum number of uploads that are tried for an object. */
const ATTEMPTS = 3;

/** Makes the options that limit the time of a request. */
type Deadline = () => { abortSignal: AbortSignal };

interface NewObject {
  readonly Bucket: string;
  readonly Key: string;
  readonly ContentType: string;
}

interface Parts {
  readonly partBytes: number;
  readonly late: Deadline;
  /** Returns whether the whole object was written since the upload began. */
  hasArrived(): Promise<boolean>;
}

/** Error codes for an upload that was completed or removed meanwhile, or of which a part was sent again. */
const OVERTAKEN: ReadonlySet<string> = new Set(["NoSuchUpload", "InvalidPart"]);

/**
 * Writes a large object in parts, several at a time. Continues an earlier upload of this object that was not finished, and keeps its
 * parts whose MD5 is right. The SDK retries parts that fail.
 *
 * The earlier upload can belong to a publisher that still runs. One of the two publishers completes it, and the other one finds the object.
 */
export async function inParts(
  connection: Connection,
  object: NewObject,
  bytes: Uint8Array,
  parts: Parts,
): Promise<void> {
  let started = await startedUpload(connection, object, parts.late);
  for (let attempt = 1; ; attempt++) {
    try {
      return await upload(connection, object, bytes, parts, started);
    } catch (error) {
      if (!OVERTAKEN.has(Object(error).name)) throw error;
      if (await parts.hasArrived()) return;
      if (attempt === ATTEMPTS) throw error;
      started = undefined;
    }
  }
}

/** Continues an upload, or makes a new one, and completes it. */
async function upload(
  { client, CreateMultipartUploadCommand, UploadPartCommand, CompleteMultipartUploadCommand }: Connection,
  { Bucket, Key, ContentType }: NewObject,
  bytes: Uint8Array,
  { partBytes, late }: Parts,
  started: StartedParts | undefined,
): Promise<void> {
  const UploadId =
    started?.id ??
    (await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType }), late())).UploadId ??
    "";
  const places = Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, i) => i * partBytes);
  const parts: CompletedPart[] = [];
  await sideBySide(places, PARALLEL, async (place, index) => {
    const Body = bytes.subarray(place, place + partBytes);
    const PartNumber = index + 1;
    const there = started?.etags.get(PartNumber);
    const isThere = there !== undefined && there === `"${createHash("md5").update(Body).digest("hex")}"`;
    const ETag = isThere
      ? there
      : (await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }), late())).ETag;
    parts[index] = { PartNumber, ETag };
  });
  const whole = { Bucket, Key, UploadId, MultipartUpload: { Parts: parts } };
  await client.send(new CompleteMultipartUploadCommand(whole), late());
}

/** An upload that is not finished. */
interface StartedUpload {
  readonly key: string;
  readonly id: string;
  readonly began: Date;
}

/** Lists the unfinished uploads of keys that begin with a prefix. */
async function startedUploads(
  { client, ListMultipartUploadsCommand }: Connection,
  Bucket: string,
  Prefix: string,
  late: Deadline,
): Promise<StartedUpload[]> {
  const found: StartedUpload[] = [];
  const count = pageCounter();
  let next: Pick<ListMultipartUploadsCommandInput, "KeyMarker" | "UploadIdMarker"> | undefined = {};
  while (next) {
    count(JSON.stringify(next));
    const page: ListMultipartUploadsCommandOutput = await client.send(
      new ListMultipartUploadsCommand({ Bucket, Prefix, ...next }),
      late(),
    );
    for (const { Key: key = "", UploadId: id = "", Initiated: began = new Date(0) } of page.Uploads ?? []) {
      found.push({ key, id, began });
    }
    const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
    // Without a marker, the next request would return the first page again, so the list ends here.
    next = IsTruncated && KeyMarker ? { KeyMarker, UploadIdMarker } : undefined;
  }
  return found;
}

interface StartedParts {
  readonly id: string;
  /** ETag of each part that has arrived, by the number of the part. */
  readonly etags: ReadonlyMap<number, string>;
}

/**
 * Finds the newest unfinished upload of an object. Returns undefined if uploads cannot be listed: some services keep no list, and some
 * access keys may not read it.
 */
async function startedUpload(
  connection: Connection,
  { Bucket, Key }: NewObject,
  late: Deadline,
): Promise<StartedParts | undefined> {
  try {
    const [newest] = (await startedUploads(connection, Bucket, Key, late))
      .filter(({ key }) => key === Key)
      .sort((a, b) => b.began.getTime() - a.began.getTime());
    return newest && { id: newest.id, etags: await etagsOf(connection, { Bucket, Key, UploadId: newest.id }, late) };
  } catch {
    return undefined;
  }
}

/** Returns the ETags of the parts of an upload that have arrived. */
async function etagsOf(
  { client, ListPartsCommand }: Connection,
  upload: { Bucket: string; Key: string; UploadId: string },
  late: Deadline,
): Promise<ReadonlyMap<number, string>> {
  const etags = new Map<number, string>();
  let PartNumberMarker: string | undefined;
  const count = pageCounter();
  do {
    count(PartNumberMarker);
    const page = await client.send(new ListPartsCommand({ ...upload, PartNumberMarker }), late());
    for (const { PartNumber = 0, ETag = "" } of page.Parts ?? []) etags.set(PartNumber, ETag);
    PartNumberMarker = page.IsTruncated ? page.NextPartNumberMarker : undefined;
  } while (PartNumberMarker !== undefined);
  return etags;
}

/** Lists the unfinished uploads of keys that begin with a prefix; none for a service that does not list uploads. */
export async function unfinishedUploads(connection: Connection, Bucket: string, prefix: string, late: Deadline) {
  const uploads = await startedUploads(connection, Bucket, prefix, late).catch((error: unknown) => {
    if (Object(error).name === "NotImplemented") return [];
    throw error;
  });
  return uploads.map(({ key: Key, id: UploadId, began }) => ({
    key: Key,
    began,
    abort: async ({ client, AbortMultipartUploadCommand }: Connection) => {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), late());
    },
  }));
}
