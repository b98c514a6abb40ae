import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { GetObjectCommand, HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { testWritableStore } from "#test/suites/store-suite.ts";
import { type ObjectStorage, startObjectStorage } from "../cli/dev/object-storage.ts";
import { freePort } from "../cli/dev/process.ts";
import { readObject } from "./read-object.ts";
import { s3Publisher } from "./s3-publisher.ts";

let server: ObjectStorage;
let stores = 0;
beforeAll(async () => {
  server = await startObjectStorage(process.cwd());
});
afterAll(() => server?.stop());

testWritableStore("s3Publisher", async () => s3Publisher({ ...server.access, prefix: `store ${stores++}` }));

describe("s3Publisher", () => {
  it("stores exactly the given bytes under prefix and key, with their content type", async () => {
    const { bucket, endpoint, region, accessKeyId, secretAccessKey } = server.access;
    await s3Publisher({ ...server.access, prefix: "team-a/" }).put("models/x.json", bytesOf("{}"), {
      contentType: "application/json",
    });
    const client = new S3Client({
      endpoint,
      region,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
    });
    const at = { Bucket: bucket, Key: "team-a/models/x.json" };
    const { ContentType, ContentEncoding, ContentLength } = await client.send(new HeadObjectCommand(at));
    expect({ ContentType, ContentEncoding, ContentLength }).toEqual({
      ContentType: "application/json",
      ContentEncoding: undefined,
      ContentLength: 2,
    });
    const { Body } = await client.send(new GetObjectCommand(at));
    expect(await Body?.transformToString()).toBe("{}");
    client.destroy();
  });

  it.each([
    ["a bucket that does not exist", () => ({ bucket: "no-such-bucket" })],
    ["a key that the server does not know", () => ({ accessKeyId: "intruder" })],
    ["a server that is not there", async () => ({ endpoint: `http://127.0.0.1:${await freePort()}` })],
  ])("reports %s as unavailable, and does not show the secret", async (_, change) => {
    const options = { ...server.access, ...(await change()) };
    const failure = await s3Publisher(options)
      .put("models/x.json", bytesOf("{}"), { contentType: "application/json" })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining(`s3(${options.bucket}) could not read or write models/x.json`),
    });
    expect((failure as Error).message).not.toContain(options.secretAccessKey);
  });

  it.each([403, 500])("shows the status with which a server refuses a HEAD request: %d", async (status) => {
    const refusing = createServer((_, response) => response.writeHead(status).end()).listen(0, "127.0.0.1");
    await once(refusing, "listening");
    onTestFinished(() => void refusing.close());
    const endpoint = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
    await expect(s3Publisher({ ...server.access, endpoint }).has("x")).rejects.toThrow(`HTTP ${status}`);
  });

  it("gives up on a server that does not answer in time", async () => {
    await expect(readObject(s3Publisher({ ...server.access, timeoutMs: 0 }), "models/x.json")).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });
});
