import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { regionTier } from "#sdk/serve/region/region.ts";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { signatureOf } from "../fixtures/aws-signature.ts";
import { errorLog } from "../fixtures/error-log.ts";
import { serve } from "../fixtures/serve.ts";
import { fakeEngine, TINY, tinyStore } from "../fixtures/tiny-model.ts";

const KEY = "the-region's-key";
const SECRET = "aws-secret";
/** AWS refuses signatures of other times: https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html */
const AWS_MINUTES = 5;

const log = errorLog();

/** Sends one request through an edge, and returns what its region got. The region then fails, which the edge logs. */
async function captured(): Promise<{ request: IncomingMessage; body: string }> {
  const models = await tinyStore();
  const got = Promise.withResolvers<{ request: IncomingMessage; body: string }>();
  const url = await serve(async (request, response) => {
    const body = await text(request);
    const isProbe = request.method === "GET";
    if (!isProbe) got.resolve({ request, body });
    response.writeHead(isProbe ? 200 : 503).end();
  });
  const region = regionTier({
    url,
    key: KEY,
    aws: { accessKeyId: "AKIA", secretAccessKey: SECRET, region: "eu-central-1" },
  });
  const edge = createEdgeApp({ models, model: TINY.name, engine: fakeEngine(), keys: false, log: false, region });
  const init = { method: "POST", headers: { "content-type": "application/json", "x-bert-edge-tier": "region" } };
  await edge.request("/v1/embed", { ...init, body: '{"inputs":["the house"]}' });
  expect(log).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("region_failed"));
  return got.promise;
}

it("a captured request to a region on AWS cannot be changed, and is valid for minutes only", async () => {
  const { request, body } = await captured();
  expect(request.headers.authorization).toBe(signatureOf(request, SECRET, body));
  expect(request.headers.authorization).not.toBe(signatureOf(request, SECRET, body.replace("house", "mouse")));
  const signedAt = `${request.headers["x-amz-date"]}`.replace(/(....)(..)(..)T(..)(..)(..)Z/, "$1-$2-$3T$4:$5:$6Z");
  expect(Math.abs(Date.parse(signedAt) - Date.now())).toBeLessThan(AWS_MINUTES * 60_000);
});

it("a captured request, sent again, changes nothing: it gets the same answer, and only with the key", async () => {
  const { request, body } = await captured();
  const app = createRegionApp({
    models: await tinyStore(),
    model: TINY.name,
    engine: fakeEngine({ target: "regional-cpu" }),
    keys: [KEY],
    log: false,
  });
  const headers = { "content-type": "application/json", "x-api-key": `${request.headers["x-api-key"]}` };
  const answer = async (sent: Record<string, string>) => {
    const response = await app.request(`${request.url}`, { method: "POST", headers: sent, body });
    return [response.status, response.ok ? await response.text() : ""];
  };
  const first = await answer(headers);
  expect(first[0]).toBe(200);
  expect(await answer(headers)).toEqual(first);
  expect(await answer({ ...headers, "x-api-key": "" })).toEqual([401, ""]);
});
