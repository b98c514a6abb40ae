import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { signatureOf } from "#test/fixtures/aws-signature.ts";
import { type ObjectStorage, startObjectStorage } from "#test/fixtures/object-storage.ts";
import { readObject } from "#test/fixtures/read-object.ts";
import { seeded } from "#test/fixtures/seeded.ts";
import { serve } from "#test/fixtures/serve.ts";
import { bytesOf } from "#test/fixtures/small-artifact.ts";
import { testStore } from "#test/suites/store-suite.ts";
import { freePort } from "../cli/dev/ports.ts";
import { isInnerPath } from "./inner-path.ts";
import { s3Store } from "./s3.ts";
import { s3Publisher } from "./s3-publisher.ts";

let server: ObjectStorage;
beforeAll(async () => {
  server = await startObjectStorage();
});
afterAll(() => server?.stop());

testStore("s3Store", async () => {
  const options = { ...server.access, prefix: "team a+b/" };
  const publisher = s3Publisher(options);
  return {
    store: s3Store(options),
    put: (key, bytes) => publisher.put(key, bytes, { contentType: "application/octet-stream" }),
  };
});

describe("s3Store", () => {
  it("accepts an endpoint that ends with a slash", async () => {
    const publisher = s3Publisher(server.access);
    await publisher.put("slash", bytesOf("x"), { contentType: "text/plain" });
    const store = s3Store({ ...server.access, endpoint: `${server.access.endpoint}/` });
    expect(await readObject(store, "slash")).toEqual(bytesOf("x"));
  });

  /** Starts a server that checks signatures, because s3rver does not check them. Every object is empty. */
  const checkingServer = () =>
    serve((request, response) => {
      const signed = request.headers.authorization === signatureOf(request, server.access.secretAccessKey);
      response.writeHead(signed ? 200 : 403).end();
    });

  it("signs every address according to the specification", async () => {
    const endpoint = await checkingServer();
    const key = fc.string({ unit: fc.constantFrom(..."aZ09-_.~/ +%&='()*!@,;$ßü"), minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(key.filter(isInnerPath), async (key) => {
        expect(await readObject(s3Store({ ...server.access, endpoint }), key)).toEqual(new Uint8Array());
      }),
      seeded(100),
    );
  });

  it("is refused with a wrong secret, and does not show the secret", async () => {
    const store = s3Store({ ...server.access, endpoint: await checkingServer(), secretAccessKey: "wrong-secret" });
    const failure = await readObject(store, "key").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "storage_unavailable", message: expect.stringContaining("HTTP 403") });
    expect((failure as Error).message).not.toContain("wrong-secret");
  });

  it("sends the session token of temporary credentials, signed", async () => {
    let headers: Headers | undefined;
    const store = s3Store({
      ...server.access,
      sessionToken: "temporary",
      fetch: async (request) => {
        headers = (request as Request).headers;
        return new Response("x");
      },
    });
    await readObject(store, "key");
    expect(headers?.get("x-amz-security-token")).toBe("temporary");
    expect(headers?.get("authorization")).toContain("x-amz-security-token");
  });

  it.each([
    ["a key that the server does not know", () => ({ accessKeyId: "intruder" })],
    ["a bucket that does not exist", () => ({ bucket: "no-such-bucket" })],
    ["a server that is not there", async () => ({ endpoint: `http://127.0.0.1:${await freePort()}` })],
  ])("throws storage_unavailable with %s", async (_, change) => {
    const options = { ...server.access, ...(await change()) };
    const failure = await readObject(s3Store(options), "models/x.json").catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining(`s3(${options.bucket}) could not be read or written: `),
    });
    expect((failure as Error).message).not.toContain(options.secretAccessKey);
  });

  it("names the status and the reason that the server gives", async () => {
    const endpoint = await serve((_, response) => {
      response.writeHead(503, { "content-type": "application/xml" });
      response.end("<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>");
    });
    await expect(readObject(s3Store({ ...server.access, endpoint }), "x")).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("HTTP 503 SlowDown"),
    });
  });

  it("gives up on a server that does not answer", { timeout: 5_000 }, async () => {
    const endpoint = await serve(() => {});
    await expect(readObject(s3Store({ ...server.access, endpoint, timeoutMs: 50 }), "x")).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });

  it("gives up on a server that stops in the middle of an object", { timeout: 5_000 }, async () => {
    const endpoint = await serve((_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("the first of a thousand bytes");
    });
    await expect(readObject(s3Store({ ...server.access, endpoint, timeoutMs: 100 }), "x")).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });

  it("does not mistake a broken connection for the end of the object", async () => {
    const endpoint = await serve((_, response) => {
      response.writeHead(200, { "content-length": "1000" });
      response.write("the first of a thousand bytes", () => response.destroy());
    });
    await expect(readObject(s3Store({ ...server.access, endpoint }), "x")).rejects.toMatchObject({
      code: "storage_unavailable",
    });
  });
});
