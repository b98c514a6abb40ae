import { createHash } from "node:crypto";
import type {
  CompletedPart,
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
} from "@aws-sdk/client-s3";
import { sideBySide } from "../artifact/side-by-side.ts";
import type { Connection } from "./s3-connection.ts";

/** Size of a part. S3 takes 5 MiB at least, and 10,000 parts at most. */
const PART_BYTES = 8 * 1024 * 1024;
/** Objects above this size are sent in parts. */
export const MIN_BYTES_IN_PARTS = 2 * PART_BYTES;
/** Parts that are sent at the same time. */
const PARALLEL = 4;

/** Options of a request that limit its time. */
type Deadline = () => { abortSignal: AbortSignal };

interface NewObject {
  readonly Bucket: string;
  readonly Key: string;
  readonly ContentType: string;
}

/**
 * Writes a large object in parts, some at a time. If an earlier upload of this object broke off, its parts are used, as far as their
 * MD5 is right. The SDK sends a part again that fails.
 *
 * @param late makes the time limit of a request
 */
export async function inParts(
  connection: Connection,
  { Bucket, Key, ContentType }: NewObject,
  bytes: Uint8Array,
  late: Deadline,
): Promise<void> {
  const { client, CreateMultipartUploadCommand, UploadPartCommand, CompleteMultipartUploadCommand } = connection;
  const started = await startedUpload(connection, Bucket, Key, late);
  const UploadId =
    started?.id ??
    (await client.send(new CreateMultipartUploadCommand({ Bucket, Key, ContentType }), late())).UploadId ??
    "";
  const places = Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, i) => i * PART_BYTES);
  const parts: CompletedPart[] = [];
  await sideBySide(places, PARALLEL, async (place, index) => {
    const Body = bytes.subarray(place, place + PART_BYTES);
    const PartNumber = index + 1;
    const there = started?.parts.get(PartNumber);
    const hasArrived = there !== undefined && there === `"${createHash("md5").update(Body).digest("hex")}"`;
    const ETag = hasArrived
      ? there
      : (await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }), late())).ETag;
    parts[index] = { PartNumber, ETag };
  });
  const whole = { Bucket, Key, UploadId, MultipartUpload: { Parts: parts } };
  await client.send(new CompleteMultipartUploadCommand(whole), late());
}

/** An upload that began and did not end. */
interface StartedUpload {
  readonly key: string;
  readonly id: string;
  readonly began: Date;
}

/** Lists the uploads below a prefix that began and did not end. A service that keeps no list of them has none. */
async function startedUploads(
  { client, ListMultipartUploadsCommand }: Connection,
  Bucket: string,
  Prefix: string,
  late: Deadline,
): Promise<StartedUpload[]> {
  const found: StartedUpload[] = [];
  let next: Pick<ListMultipartUploadsCommandInput, "KeyMarker" | "UploadIdMarker"> | undefined = {};
  while (next) {
    const page: ListMultipartUploadsCommandOutput | undefined = await client
      .send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...next }), late())
      .catch((error: unknown) => {
        if (Object(error).name === "NotImplemented") return undefined;
        throw error;
      });
    for (const { Key: key = "", UploadId: id = "", Initiated: began = new Date(0) } of page?.Uploads ?? []) {
      found.push({ key, id, began });
    }
    next = page?.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : undefined;
  }
  return found;
}

/** Finds the newest upload of an object that broke off, with the ETags of its parts by number. */
async function startedUpload(connection: Connection, Bucket: string, Key: string, late: Deadline) {
  const { client, ListPartsCommand } = connection;
  const [newest] = (await startedUploads(connection, Bucket, Key, late))
    .filter(({ key }) => key === Key)
    .sort((a, b) => b.began.getTime() - a.began.getTime());
  if (!newest) return undefined;
  const parts = new Map<number, string>();
  let PartNumberMarker: string | undefined;
  do {
    const at = { Bucket, Key, UploadId: newest.id, PartNumberMarker };
    const page = await client.send(new ListPartsCommand(at), late());
    for (const { PartNumber = 0, ETag = "" } of page.Parts ?? []) parts.set(PartNumber, ETag);
    PartNumberMarker = page.IsTruncated ? page.NextPartNumberMarker : undefined;
  } while (PartNumberMarker !== undefined);
  return { id: newest.id, parts };
}

/** Lists the uploads below a prefix that began and did not end. */
export async function unfinishedUploads(connection: Connection, Bucket: string, prefix: string, late: Deadline) {
  const uploads = await startedUploads(connection, Bucket, prefix, late);
  return uploads.map(({ key: Key, id: UploadId, began }) => ({
    key: Key,
    began,
    abort: async ({ client, AbortMultipartUploadCommand }: Connection) => {
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), late());
    },
  }));
}
