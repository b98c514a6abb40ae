import type { RequestListener } from "node:http";
import { build } from "esbuild";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type clients, errorOf } from "../fixtures/distrustful-clients.ts";
import { serve } from "../fixtures/serve.ts";

type Client = keyof typeof clients;

/** Uses the same clients in workerd. */
const worker = `
  import { errorOf } from "./test/fixtures/distrustful-clients.ts";
  export default {
    async fetch(request) {
      const { client, url, timeoutMs } = await request.json();
      return Response.json(await errorOf(client, url, timeoutMs));
    },
  };`;

let workerd: Miniflare;

beforeAll(async () => {
  const { outputFiles } = await build({
    stdin: { contents: worker, resolveDir: process.cwd() },
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["workerd", "worker"],
  });
  const script = outputFiles[0]?.text ?? "";
  workerd = new Miniflare(convertV4MiniflareOptions({ modules: true, script, compatibilityDate: "2026-11-01" }));
});
afterAll(() => workerd?.dispose());

const runtimes: [string, typeof errorOf][] = [
  ["Node", errorOf],
  [
    "workerd",
    async (client, url, timeoutMs) => {
      const response = await workerd.dispatchFetch("http://worker/", {
        method: "POST",
        body: JSON.stringify({ client, url, timeoutMs }),
      });
      return (await response.json()) as Awaited<ReturnType<typeof errorOf>>;
    },
  ],
];

const settings: Record<Client, [code: string, setting: RegExp]> = {
  region: ["region_failed", /REGION_URL/],
  "region on AWS": ["region_failed", /REGION_URL/],
  s3: ["storage_unavailable", /S3_ENDPOINT/],
  http: ["storage_unavailable", /URL/],
};

describe.each(runtimes)("a redirect, in %s", (_, outcome) => {
  it.each(Object.entries(settings) as [Client, [string, RegExp]][])(
    "is not followed by the client %s, which names the setting to change",
    async (client, [code, setting]) => {
      const asked: string[] = [];
      const elsewhere = await serve((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        response.end("{}");
      });
      for (const status of [301, 302, 303, 307, 308]) {
        const url = await serve((_, response) => {
          response.writeHead(status, { location: `${elsewhere}/stolen` }).end();
        });
        const error = await outcome(client, url);
        expect(error).toMatchObject({ code, text: expect.stringContaining("redirect") });
        expect(error.text).toMatch(setting);
        expect(error.text).not.toContain("not-for-strangers");
      }
      expect(asked).toEqual([]);
    },
  );
});

/** Writes pieces until the client closes the connection. */
const endlessly = (piece: string, everyMs: number, declared?: number): RequestListener => {
  return (_, response) => {
    response.writeHead(200, declared === undefined ? {} : { "content-length": declared });
    const timer = setInterval(() => response.write(piece), everyMs);
    response.on("close", () => clearInterval(timer));
  };
};

describe.each(runtimes)("a region, asked from %s,", (_, outcome) => {
  it.each<[string, RequestListener, RegExp, timeoutMs?: number]>([
    ["that never answers", () => {}, /in time/, 500],
    ["that answers drop by drop", endlessly(" ", 20), /in time/, 500],
    ["that answers without an end", endlessly(" ".repeat(100_000), 1), /more than \d+ bytes/],
    ["that declares 300 MB", endlessly(" ", 20, 300_000_000), /more than \d+ bytes/],
    [
      "that breaks off",
      (_, response) => void response.writeHead(200).write("{", () => response.destroy()),
      /could not be reached/,
    ],
    ["that closes the connection", (request) => void request.socket.destroy(), /could not be reached/],
  ])("%s ends as region_failed", async (_, listener, text, timeoutMs) => {
    const error = await outcome("region", await serve(listener), timeoutMs);
    expect(error).toMatchObject({ code: "region_failed", text: expect.stringMatching(text) });
    expect(error.text).not.toContain("not-for-strangers");
  });
});
