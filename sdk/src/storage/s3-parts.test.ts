import {
  AbortMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { serve } from "#test/fixtures/serve.ts";
import { type StrictObjectStorage, startStrictObjectStorage } from "#test/fixtures/strict-object-storage.ts";
import { testWritableStore } from "#test/suites/store-suite.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { readObject } from "./read-object.ts";
import { s3Publisher } from "./s3-publisher.ts";

/** Address of another S3 server, which is tested in place of ours. `npm run e2e:s3` sets this. */
const { S3_SERVER } = process.env;
/** Size of a part. Services other than ours take 5 MiB at least. */
const partBytes = S3_SERVER ? 8 * 1024 * 1024 : 64 * 1024;
const contentType = "application/octet-stream";

const large = Uint8Array.from({ length: 2.5 * partBytes + 7 }, (_, i) => (i * 31 + (i >> 13)) & 255);

let storage: StrictObjectStorage;
let access: StrictObjectStorage["access"] & { partBytes: number };
let client: S3Client;
beforeAll(async () => {
  storage = await startStrictObjectStorage();
  access = {
    ...storage.access,
    partBytes,
    ...(S3_SERVER && { endpoint: S3_SERVER, bucket: `models-${crypto.randomUUID()}` }),
  };
  const { endpoint, region, accessKeyId, secretAccessKey } = access;
  client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
  if (S3_SERVER) await client.send(new CreateBucketCommand({ Bucket: access.bucket }));
});
afterAll(async () => {
  client?.destroy();
  await storage?.stop();
});
beforeEach(async () => {
  storage.before = () => undefined;
  storage.after = () => undefined;
  // Tests leave uploads unfinished.
  for (const { Key, UploadId } of await unfinished()) {
    await client.send(new AbortMultipartUploadCommand({ Bucket: access.bucket, Key, UploadId }));
  }
});

/** Begins an upload, and sends the parts with the given numbers and contents. */
async function begin(Key: string, parts: ReadonlyMap<number, Uint8Array> = new Map()): Promise<string> {
  const at = { Bucket: access.bucket, Key };
  const { UploadId = "" } = await client.send(new CreateMultipartUploadCommand(at));
  for (const [PartNumber, Body] of parts)
    await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
  return UploadId;
}
const unfinished = async () =>
  (await client.send(new ListMultipartUploadsCommand({ Bucket: access.bucket }))).Uploads ?? [];

async function expectWhole(key: string): Promise<void> {
  const bytes = (await readObject(s3Publisher(access), key, large.length)) as Uint8Array;
  expect(Buffer.compare(bytes, large)).toBe(0);
}

describe("a large object", () => {
  it("arrives whole, in parts", async () => {
    await s3Publisher({ ...access, prefix: "team a" }).put("blobs/large", large, { contentType });
    await expectWhole("team a/blobs/large");
    // The ETag of an object that came in parts ends with their number.
    expect((await s3Publisher(access).head("team a/blobs/large"))?.etag).toMatch(/-3"$/);
  });
});

describe("an upload that broke off", () => {
  it("is continued: right parts are kept, wrong ones are sent again", async () => {
    const right = large.slice(partBytes, 2 * partBytes);
    const wrong = new Uint8Array(partBytes);
    await begin(
      "blobs/half",
      new Map([
        [2, right],
        [1, wrong],
      ]),
    );
    let sent = 0;
    storage.after = (kind) => void (kind === "UploadPart" && sent++);
    await s3Publisher(access).put("blobs/half", large, { contentType });
    if (!S3_SERVER) expect(sent).toBe(2);
    await expectWhole("blobs/half");
    expect(await unfinished()).toEqual([]);
  });

  it("is removed by gc when it is old", async () => {
    await begin("blobs/never", new Map([[1, new Uint8Array(partBytes)]]));
    const store = s3Publisher(access);
    const olderThanMs = 86_400_000;
    const began = (await unfinished())[0]?.Initiated?.getTime() ?? 0;
    const [young, old] = [
      { olderThanMs, now: began + 3_600_000 },
      { olderThanMs, now: began + 2 * olderThanMs },
    ];
    expect(await collectGarbage(store, young)).toMatchObject({ uploads: 0 });
    expect(await unfinished()).toHaveLength(1);
    expect(await collectGarbage(store, { ...old, dryRun: true })).toMatchObject({ uploads: 1 });
    expect(await unfinished()).toHaveLength(1);
    expect(await collectGarbage(store, old)).toMatchObject({ uploads: 1 });
    expect(await unfinished()).toEqual([]);
  });

  it("of another application in the bucket is left alone by gc", async () => {
    for (const key of ["backups/database.dump", "team-a/backups/database.dump"]) await begin(key);
    const old = { olderThanMs: 0, now: Date.now() + 86_400_000 };
    for (const prefix of ["", "team-a"]) {
      expect(await collectGarbage(s3Publisher({ ...access, prefix }), old)).toMatchObject({ uploads: 0 });
    }
  });

  it("is listed once by a service that says that there is more, and not where", async () => {
    const upload = "<Upload><Key>blobs/x</Key><UploadId>1</UploadId></Upload>";
    const endpoint = await serve((_, response) =>
      response.end(`<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>${upload}</ListMultipartUploadsResult>`),
    );
    const store = s3Publisher({ ...access, endpoint });
    expect(await Array.fromAsync(store.unfinished?.("blobs/") ?? [])).toMatchObject([{ key: "blobs/x" }]);
  });

  it("is found among many", async () => {
    const keys = Array.from({ length: 8 }, (_, i) => `blobs/many-${i >> 1}`);
    for (const key of keys) await begin(key);
    const store = s3Publisher(access);
    const found = await Array.fromAsync(store.unfinished?.("blobs/") ?? []);
    expect(found.map(({ key }) => key).sort()).toEqual(keys);
    for (const { abort } of found) await abort();
    expect(await unfinished()).toEqual([]);
  });
});

// These need a server whose answers can be chosen.
describe.skipIf(S3_SERVER)("a large object arrives whole", () => {
  const put = (key: string) => s3Publisher(access).put(key, large, { contentType });
  const once = (wanted: string, answer: readonly [number, string]) => {
    let left = 1;
    return (kind: string) => (kind === wanted && left-- > 0 ? answer : undefined);
  };

  it.each([0, 1, 2, 3, 4, 5, 6])(
    "when two publishers write it at once, the second one %d requests after the first",
    async (lead) => {
      const key = `blobs/both-${lead}`;
      let requests = 0;
      const begun = Promise.withResolvers<void>();
      storage.before = () => void (requests++ === lead && begun.resolve());
      const first = put(key);
      await begun.promise;
      await Promise.all([first, put(key)]);
      await expectWhole(key);
    },
  );

  it.each([
    ["ListMultipartUploads", [403, "AccessDenied"]],
    ["ListMultipartUploads", [501, "NotImplemented"]],
    ["ListParts", [403, "AccessDenied"]],
    ["ListParts", [404, "NoSuchUpload"]],
  ] as const)("although %s is refused with %j", async (wanted, answer) => {
    const key = `blobs/without-${wanted}-${answer[1]}`;
    await begin(key);
    storage.before = (kind) => (kind === wanted ? answer : undefined);
    await put(key);
    await expectWhole(key);
  });

  it.each([
    ["UploadPart", [404, "NoSuchUpload"]],
    ["CompleteMultipartUpload", [404, "NoSuchUpload"]],
    ["CompleteMultipartUpload", [400, "InvalidPart"]],
  ] as const)("in a new upload, when %s is answered with %j once", async (wanted, answer) => {
    const key = `blobs/again-${wanted}-${answer[1]}`;
    await begin(key);
    storage.before = once(wanted, answer);
    await put(key);
    await expectWhole(key);
  });

  it("when the answer to its completion is lost", async () => {
    storage.after = once("CompleteMultipartUpload", [500, "InternalError"]);
    await put("blobs/lost");
    await expectWhole("blobs/lost");
  });

  it("also when an old object of the same size was there: it is written, not taken for the new one", async () => {
    const key = "blobs/old";
    await s3Publisher(access).put(key, new Uint8Array(large.length), { contentType });
    storage.before = once("CompleteMultipartUpload", [404, "NoSuchUpload"]);
    await put(key);
    await expectWhole(key);
  });

  it("but not when its upload is gone again and again", async () => {
    storage.before = (kind) => (kind === "CompleteMultipartUpload" ? [404, "NoSuchUpload"] : undefined);
    await expect(put("blobs/gone")).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});

if (S3_SERVER)
  testWritableStore(
    "s3Publisher with another server",
    async () => s3Publisher({ ...access, prefix: crypto.randomUUID() }),
    1000,
  );
