import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ObjectStorage, startObjectStorage } from "#test/fixtures/object-storage.ts";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { testWritableStore } from "#test/suites/store-suite.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { readObject } from "./read-object.ts";
import { s3Publisher } from "./s3-publisher.ts";

/**
 * Address of an S3 server that lists unfinished uploads and checks the conditions of PutObject, which the server of the suite
 * does not. `npm run e2e:s3` sets this.
 */
const { S3_SERVER } = process.env;
const MIB = 1024 * 1024;
const contentType = "application/octet-stream";

const large = Uint8Array.from({ length: 20 * MIB + 7 }, (_, i) => (i * 31 + (i >> 13)) & 255);

let storage: ObjectStorage;
let access: ObjectStorage["access"];
let client: S3Client;
beforeAll(async () => {
  storage = await startObjectStorage();
  access = { ...storage.access, ...(S3_SERVER && { endpoint: S3_SERVER, bucket: `models-${crypto.randomUUID()}` }) };
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
  if (S3_SERVER) await client.send(new CreateBucketCommand({ Bucket: access.bucket }));
});
afterAll(async () => {
  client?.destroy();
  await storage?.stop();
});

describe("a large object", () => {
  it("arrives whole, in parts", async () => {
    const store = s3Publisher({ ...access, prefix: "team a" });
    await store.put("blobs/large", large, { contentType });
    expect(Buffer.compare((await readObject(store, "blobs/large", large.length)) as Uint8Array, large)).toBe(0);
    // S3's ETag of an object that came in parts ends with their number. The server of the suite writes another one.
    if (S3_SERVER) expect((await store.head("blobs/large"))?.etag).toMatch(/-3"$/);
  });
});

describe.skipIf(!S3_SERVER)("an upload that broke off (needs S3_SERVER: npm run e2e:s3)", () => {
  /** Begins an upload, and sends the parts with the given numbers and contents. */
  async function begin(Key: string, parts: ReadonlyMap<number, Uint8Array>): Promise<string> {
    const at = { Bucket: access.bucket, Key };
    const { UploadId = "" } = await client.send(new CreateMultipartUploadCommand(at));
    for (const [PartNumber, Body] of parts)
      await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
    return UploadId;
  }
  const unfinished = async () =>
    (await client.send(new ListMultipartUploadsCommand({ Bucket: access.bucket }))).Uploads ?? [];

  it("is continued: right parts are kept, wrong ones are sent again", async () => {
    const right = large.slice(8 * MIB, 16 * MIB);
    const wrong = new Uint8Array(8 * MIB);
    await begin(
      "blobs/half",
      new Map([
        [2, right],
        [1, wrong],
      ]),
    );
    const store = s3Publisher(access);
    await store.put("blobs/half", large, { contentType });
    expect(Buffer.compare((await readObject(store, "blobs/half", large.length)) as Uint8Array, large)).toBe(0);
    expect(await unfinished()).toEqual([]);
  });

  it("is removed by gc when it is old", async () => {
    await begin("blobs/never", new Map([[1, new Uint8Array(5 * MIB)]]));
    const store = s3Publisher(access);
    const olderThanMs = 86_400_000;
    // moto says of each upload that it began in 2010.
    expect(await collectGarbage(store, { olderThanMs, now: Date.parse("2010-11-01") })).toMatchObject({ uploads: 0 });
    expect(await unfinished()).toHaveLength(1);
    expect(await collectGarbage(store, { olderThanMs, dryRun: true })).toMatchObject({ uploads: 1 });
    expect(await unfinished()).toHaveLength(1);
    expect(await collectGarbage(store, { olderThanMs })).toMatchObject({ uploads: 1 });
    expect(await unfinished()).toEqual([]);
  });

  it("loses no write to another publisher, also between look and write", async () => {
    const store = s3Publisher(access);
    const races = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) =>
        store.put("models/raced", bytesOf(`publisher ${i}`), { contentType, replaces: null }),
      ),
    );
    expect(races.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });
});

if (S3_SERVER)
  testWritableStore("s3Publisher with another server", async () =>
    s3Publisher({ ...access, prefix: crypto.randomUUID() }),
  );
