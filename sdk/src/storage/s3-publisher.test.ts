import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { GetObjectCommand, HeadObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type ObjectStorage, startObjectStorage } from "#test/fixtures/object-storage.ts";
import { readObject } from "#test/fixtures/read-object.ts";
import { serve } from "#test/fixtures/serve.ts";
import { type ServiceInFront, serviceInFront } from "#test/fixtures/service-habits.ts";
import { bytesOf, smallArtifact } from "#test/fixtures/small-artifact.ts";
import { type StrictObjectStorage, startStrictObjectStorage } from "#test/fixtures/strict-object-storage.ts";
import { temporaryFolder } from "#test/fixtures/temporary-folder.ts";
import { testWritableStore } from "#test/suites/store-suite.ts";
import { freePort } from "../cli/dev/ports.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { publish } from "./publish.ts";
import { readPointer } from "./published-artifact.ts";
import { s3Store } from "./s3.ts";
import { s3Publisher } from "./s3-publisher.ts";
import type { ManagedStore } from "./store.ts";
import { listVersions, previousVersion, promote } from "./versions.ts";

const MIB = 1024 * 1024;

let server: ObjectStorage;
let strict: StrictObjectStorage;
let stores = 0;
beforeAll(async () => {
  server = await startObjectStorage();
  strict = await startStrictObjectStorage();
});
afterAll(async () => {
  await server?.stop();
  await strict?.stop();
});

testWritableStore("s3Publisher", async () => s3Publisher({ ...server.access, prefix: `store ${stores++}` }), 1000);
testWritableStore(
  "s3Publisher with conditional writes",
  async () => s3Publisher({ ...strict.access, prefix: `store ${stores++}` }),
  1000,
);

describe("s3Publisher on a service without conditional writes", () => {
  const written = ({ requests }: ServiceInFront) => requests.filter((request) => /^(PUT|POST)/.test(request));

  it.each(["refused", "ignored"] as const)(
    "refuses to publish and promote before it sends a blob: %s",
    async (conditions) => {
      const prefix = `store ${stores++}`;
      const { version } = await publish(await smallArtifact("a"), s3Publisher({ ...strict.access, prefix }));
      const service = await serviceInFront(strict, { conditions });
      const store = s3Publisher({ ...service.access, prefix });
      const refused = {
        code: "conditional_writes_missing",
        message: expect.stringMatching(conditions === "refused" ? "refuses" : "ignores"),
        hint: expect.stringContaining("--single-publisher"),
      };
      await expect(publish(await smallArtifact("b"), store)).rejects.toMatchObject(refused);
      await expect(promote(store, "small", version)).rejects.toMatchObject(refused);
      expect(written(service).filter((request) => !request.includes("current.json.probe.tmp"))).toEqual([]);
      expect(await Array.fromAsync(store.list("models/"), ({ key }) => key)).toEqual([
        `models/small/${version}.json`,
        "models/small/current.json",
      ]);
    },
  );

  it.each(["refused", "ignored"] as const)(
    "lets a single publisher publish, go back and clean up: %s",
    async (conditions) => {
      const service = await serviceInFront(strict, { conditions });
      const store = s3Publisher({ ...service.access, prefix: `store ${stores++}`, singlePublisher: true });
      const { version } = await publish(await smallArtifact("a"), store);
      await publish(await smallArtifact("b"), store);
      await promote(store, "small", await previousVersion(store, "small"));
      expect(await readPointer(store, "small")).toMatchObject({ version });
      expect(written(service).filter((request) => request.includes("probe"))).toEqual([]);
      const { versions } = await collectGarbage(store, { olderThanMs: 0, now: Date.now() + 86_400_000 });
      expect(versions).toHaveLength(1);
      expect(await readPointer(store, "small")).toMatchObject({ version });
    },
  );

  it("needs two probes where a condition counts only if there is an object, and leaves none", async () => {
    const store = s3Publisher({ ...strict.access, prefix: `store ${stores++}` });
    let writes = 0;
    strict.before = (kind, key) => {
      if (kind === "PutObject" && key.endsWith(".probe.tmp")) strict.ignoresConditions = writes++ === 0;
      return undefined;
    };
    onTestFinished(() => {
      strict.before = () => undefined;
      strict.ignoresConditions = false;
    });
    await expect(publish(await smallArtifact("a"), store)).resolves.toMatchObject({ name: "small" });
    expect(writes).toBe(2);
    expect(await store.head("models/small/current.json.probe.tmp")).toBeUndefined();
  });

  it("says that a single publisher was not alone", async () => {
    const service = await serviceInFront(strict, { conditions: "refused" });
    const store = s3Publisher({ ...service.access, prefix: `store ${stores++}`, singlePublisher: true });
    await store.put("x", bytesOf("theirs"), { contentType: "text/plain" });
    await expect(store.put("x", bytesOf("mine"), { contentType: "text/plain", replaces: null })).rejects.toMatchObject({
      code: "publish_conflict",
    });
  });

  it("names s3:ListBucket where a key may not list", async () => {
    const service = await serviceInFront(strict, { hidesMissing: true });
    const options = { ...service.access, prefix: `store ${stores++}` };
    const refused = { code: "storage_unavailable", hint: expect.stringContaining("Without s3:ListBucket") };
    const store = s3Publisher(options);
    await expect(publish(await smallArtifact("a"), store)).rejects.toMatchObject(refused);
    await expect(listVersions(store)).rejects.toMatchObject(refused);
    await expect(readPointer(s3Store(options), "small")).rejects.toMatchObject(refused);
  });
});

describe("conditional writes of s3Publisher", () => {
  const contentType = "application/json";
  const key = "models/raced/current.json";
  beforeEach(() => {
    strict.ignoresConditions = false;
    strict.after = () => undefined;
  });

  it("let one of several publishers win", async () => {
    const store = s3Publisher({ ...strict.access, prefix: `store ${stores++}` });
    const races = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => store.put(key, bytesOf(`publisher ${i}`), { contentType, replaces: null })),
    );
    const won = races.flatMap(({ status }, i) => (status === "fulfilled" ? [`publisher ${i}`] : []));
    expect(won).toHaveLength(1);
    expect(await readObject(store, key)).toEqual(bytesOf(won[0] ?? ""));
  });

  it.each([
    ["a new object", false],
    ["a replaced object", true],
  ])("are no conflict with itself if the answer is lost and the SDK writes again: %s", async (_, isThere) => {
    const store = s3Publisher({ ...strict.access, prefix: `store ${stores++}` });
    if (isThere) await store.put(key, bytesOf("before"), { contentType });
    const replaces = (await store.head(key)) ?? null;
    let losses = 1;
    strict.after = (kind) => (kind === "PutObject" && losses-- > 0 ? [500, "InternalError"] : undefined);
    await store.put(key, bytesOf("mine"), { contentType, replaces });
    expect(losses).toBeLessThan(0);
    expect(await readObject(store, key)).toEqual(bytesOf("mine"));
  });

  it("are obeyed by a service that compares ETags without their quotes", async () => {
    strict.wantsBareEtags = true;
    onTestFinished(() => {
      strict.wantsBareEtags = false;
    });
    const store = s3Publisher({ ...strict.access, prefix: `store ${stores++}` });
    await store.put(key, bytesOf("before"), { contentType, replaces: null });
    const replaces = (await store.head(key)) ?? null;
    const races = await Promise.allSettled(
      Array.from({ length: 4 }, (_, i) => store.put(key, bytesOf(`publisher ${i}`), { contentType, replaces })),
    );
    const won = races.flatMap(({ status }, i) => (status === "fulfilled" ? [`publisher ${i}`] : []));
    expect(won).toHaveLength(1);
    expect(await readObject(store, key)).toEqual(bytesOf(won[0] ?? ""));
  });

  it("publish although the answer to the last write is lost", async () => {
    const store = s3Publisher({ ...strict.access, prefix: `store ${stores++}` });
    let losses = 1;
    strict.after = (kind, place) =>
      kind === "PutObject" && place.endsWith("/current.json") && losses-- > 0 ? [500, "InternalError"] : undefined;
    await expect(publish(await smallArtifact("a"), store)).resolves.toMatchObject({ name: "small" });
    expect(losses).toBeLessThan(0);
  });

  it("report a conflict when another publisher's write was later, where the service ignores conditions", async () => {
    const store = s3Publisher({ ...strict.access, prefix: `store ${stores++}` });
    strict.ignoresConditions = true;
    // Both looked before. The other one's write arrives just after this one's.
    let others = 1;
    strict.after = async (kind) => {
      if (kind === "PutObject" && others-- > 0) await store.put(key, bytesOf("theirs"), { contentType });
      return undefined;
    };
    await expect(store.put(key, bytesOf("mine"), { contentType, replaces: null })).rejects.toMatchObject({
      code: "publish_conflict",
    });
    expect(await readObject(store, key)).toEqual(bytesOf("theirs"));
  });
});

describe("s3Publisher", () => {
  it("obeys endpoint_url of the AWS profile, and has no host name for the bucket", async () => {
    const config = join(await temporaryFolder(), "config");
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = strict.access;
    const url = endpoint.replace("127.0.0.1", "localhost");
    await writeFile(config, `[profile local]\nregion = ${region}\nendpoint_url = ${url}\n`);
    vi.stubEnv("AWS_CONFIG_FILE", config);
    vi.stubEnv("AWS_PROFILE", "local");
    onTestFinished(() => void vi.unstubAllEnvs());
    const prefix = `store ${stores++}`;
    await s3Publisher({ bucket, accessKeyId, secretAccessKey, prefix }).put("x", bytesOf("x"), {
      contentType: "text/plain",
    });
    expect(await readObject(s3Publisher({ ...strict.access, prefix }), "x")).toEqual(bytesOf("x"));
  });

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
      message: expect.stringContaining(`s3(${options.bucket}) could not be read or written: `),
    });
    expect((failure as Error).message).not.toContain(options.secretAccessKey);
  });

  it.each([
    [404, "NoSuchBucket", "there is no such bucket", "npx wrangler r2 bucket create my-models"],
    [403, "InvalidAccessKeyId", "does not know the access key", "Correct AWS_ACCESS_KEY_ID."],
    [403, "SignatureDoesNotMatch", "the secret key is wrong", "Correct AWS_SECRET_ACCESS_KEY."],
    [403, "AccessDenied", "access was refused", "list the bucket my-models. Without s3:ListBucket, S3 refuses"],
    [401, "Unauthorized", "access was refused", "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"],
    [301, "PermanentRedirect", "redirects are not followed", "Correct region (auto for R2"],
    [400, "InvalidRegionName", "not in the region auto", "Correct region (auto for R2"],
    [400, "TooStrange", "HTTP 400 TooStrange", "Check the store's address"],
  ])("explains HTTP %d %s", async (status, code, message, hint) => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "id");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
    for (const name of ["AWS_REGION", "AWS_PROFILE"]) vi.stubEnv(name, undefined);
    onTestFinished(() => void vi.unstubAllEnvs());
    const endpoint = await serve((_, response) => {
      response.writeHead(status, { "content-type": "application/xml" });
      response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`);
    });
    const store = s3Publisher({ bucket: "my-models", endpoint });
    await expect(readObject(store, "models/x.json")).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });

  it.each([
    ["a region", { bucket: "my-models" }, "For R2, set endpoint to https://"],
    [
      "credentials",
      { bucket: "my-models", endpoint: "http://127.0.0.1:1" },
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ],
  ])("names what is missing without %s", async (_, options, hint) => {
    for (const name of ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_PROFILE"]) vi.stubEnv(name, undefined);
    for (const name of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) vi.stubEnv(name, "/dev/null");
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(s3Publisher(options).head("x")).rejects.toMatchObject({
      code: "storage_unavailable",
      hint: expect.stringContaining(hint),
    });
  });

  it.each([403, 500])("shows the status with which a server refuses a HEAD request: %d", async (status) => {
    const endpoint = await serve((_, response) => response.writeHead(status).end());
    await expect(s3Publisher({ ...server.access, endpoint }).head("x")).rejects.toThrow(`HTTP ${status}`);
  });

  it("does not take a 404 for a stored object", async () => {
    const endpoint = await serve((_, response) => response.writeHead(404).end());
    const store = s3Publisher({ ...server.access, endpoint });
    expect(await store.head("x")).toBeUndefined();
    await expect(store.put("x", bytesOf("x"), { contentType: "text/plain" })).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("HTTP 404"),
    });
  });

  it("gives up on a server that does not answer in time", async () => {
    await expect(readObject(s3Publisher({ ...server.access, timeoutMs: 0 }), "models/x.json")).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });

  it.each([
    ["a list", 200, (store: ManagedStore) => Array.fromAsync(store.list("models/"))],
    ["a list of uploads", 200, (store: ManagedStore) => Array.fromAsync(store.unfinished?.("blobs/") ?? [])],
    ["an error", 403, (store: ManagedStore) => store.remove("x")],
  ])("stops reading %s that does not end", async (_, status, ask) => {
    let sent = 0;
    const endpoint = await serve((_request, response) => {
      response.writeHead(status, { "content-type": "application/xml" });
      const piece = Buffer.alloc(MIB, " ");
      Readable.from(
        (function* () {
          for (; sent < 200; sent++) yield piece;
        })(),
      )
        .on("error", () => {})
        .pipe(response);
    });
    await expect(ask(s3Publisher({ ...server.access, endpoint }))).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(/: the answer is too large \(object .*\)$/),
      hint: expect.stringContaining("endpoint"),
    });
    expect(sent).toBeLessThan(100);
  });

  it("does not read more of a pointer back than it has written", async () => {
    const endpoint = await serve((request, response) => {
      if (request.method === "GET") Readable.from(Array(200).fill(Buffer.alloc(MIB))).pipe(response);
      else request.resume().on("end", () => response.writeHead(request.method === "HEAD" ? 404 : 200).end());
    });
    const store = s3Publisher({ ...server.access, endpoint });
    await expect(store.put("x", bytesOf("x"), { contentType: "text/plain", replaces: null })).rejects.toMatchObject({
      code: "publish_conflict",
    });
  });

  it("refuses a list that is cut off and does not say where it goes on", async () => {
    const endpoint = await serve((_, response) => {
      response.end("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>");
    });
    const list = s3Publisher({ ...server.access, endpoint }).list("models/");
    await expect(Array.fromAsync(list)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("list is cut off"),
    });
  });

  it("refuses a list whose next page comes again and again", async () => {
    let requests = 0;
    const endpoint = await serve((request, response) => {
      requests++;
      const isUploads = request.url?.includes("uploads");
      const [kind, next] = isUploads
        ? ["ListMultipartUploadsResult", "NextKeyMarker"]
        : ["ListBucketResult", "NextContinuationToken"];
      response.end(`<${kind}><IsTruncated>true</IsTruncated><${next}>1</${next}></${kind}>`);
    });
    const store = s3Publisher({ ...server.access, endpoint });
    const refused = { code: "storage_unavailable", message: expect.stringContaining("list does not end") };
    await expect(Array.fromAsync(store.list("models/"))).rejects.toMatchObject(refused);
    await expect(Array.fromAsync(store.unfinished?.("blobs/") ?? [])).rejects.toMatchObject(refused);
    expect(requests).toBe(4);
  });
});
