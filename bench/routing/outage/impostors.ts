import type { ServerResponse } from "node:http";
import { encodeBytes } from "#sdk/serve/contract/vector-text.ts";

/** The region's genuine answer. */
export interface Genuine {
  model: string;
  version: string;
  tier: string;
  outputs: string[];
  usage: { tokens: number };
}

/** Answers a request in the region's place. */
export type Impostor = (response: ServerResponse, genuine: Genuine) => void;

const DRIP_MS = 100;
const ENDLESS_PIECE = Buffer.alloc(1 << 20, "1");

const json = (response: ServerResponse, body: unknown) =>
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));

/** Answers with a changed body. */
const changed =
  (change: (genuine: Genuine) => object): Impostor =>
  (response, genuine) =>
    json(response, { ...genuine, ...change(genuine) });

/** Answers with changed vectors of the genuine width. */
const vectors = (change: (value: number, index: number) => number): Impostor =>
  changed(({ outputs }) => ({
    outputs: outputs.map((each) => encodeBytes(floats(each).map(change))),
  }));

function floats(base64: string): Float32Array<ArrayBuffer> {
  const bytes = Uint8Array.from(Buffer.from(base64, "base64"));
  return new Float32Array(bytes.buffer);
}

const status =
  (code: number, headers: Record<string, string> = {}, body = "{}"): Impostor =>
  (response) =>
    response.writeHead(code, { "content-type": "application/json", ...headers }).end(body);

const raw =
  (use: (response: ServerResponse, body: string) => void): Impostor =>
  (response, genuine) =>
    use(response, JSON.stringify(genuine));

/** The ways in which an impostor answers, by name. */
export const impostors: Readonly<Record<string, Impostor>> = {
  "NaN vectors": vectors(() => Number.NaN),
  "one NaN": vectors((value, i) => (i === 7 ? Number.NaN : value)),
  "infinite vectors": vectors(() => Number.POSITIVE_INFINITY),
  "zero vectors": vectors(() => 0),
  "huge vectors": vectors((value) => value * 1e30),
  "vectors of half length": vectors((value) => value / 2),
  "narrow vectors": changed(({ outputs }) => ({
    outputs: outputs.map(() => encodeBytes(new Float32Array(3))),
  })),
  "wide vectors": changed(({ outputs }) => ({ outputs: outputs.map((each) => each + each) })),
  "a vector too few": changed(({ outputs }) => ({ outputs: outputs.slice(1) })),
  "a vector too many": changed(({ outputs }) => ({ outputs: [...outputs, ...outputs.slice(0, 1)] })),
  "no vectors": changed(() => ({ outputs: [] })),
  "vectors of other characters": changed(({ outputs }) => ({ outputs: outputs.map(() => "%%%") })),
  "vectors of a number": changed(({ outputs }) => ({ outputs: outputs.map(() => 1) })),
  "another version": changed(() => ({ version: "fffffffffff0" })),
  "another model": changed(() => ({ model: "another-model" })),
  "negative tokens": changed(() => ({ usage: { tokens: -5.5 } })),
  "a million tokens": changed(() => ({ usage: { tokens: 1_000_000 } })),
  "no tokens": changed(() => ({ usage: {} })),
  "status 500": status(500),
  "status 401": status(401),
  "status 404": status(404, { "content-type": "text/html" }, "<h1>Not found</h1>"),
  "status 429": status(429, { "retry-after": "60" }),
  "a redirect": status(307, { location: "http://127.0.0.1:9/v1/outputs" }),
  "an empty body": status(200, {}, ""),
  "no JSON": status(200, {}, "hello"),
  "half of the JSON": raw((response, body) => response.writeHead(200).end(body.slice(0, body.length / 2))),
  "an endless body": (response) => {
    const more = (): void => {
      if (response.destroyed) return;
      if (response.write(ENDLESS_PIECE)) setImmediate(more);
      else response.once("drain", more);
    };
    response.writeHead(200);
    more();
  },
  "a byte at a time": raw((response, body) => {
    let at = 0;
    const timer = setInterval(() => response.write(body[at++] ?? " "), DRIP_MS);
    response.writeHead(200).once("close", () => clearInterval(timer));
  }),
  silence: () => {},
  "headers and then silence": (response) => {
    response.writeHead(200).flushHeaders();
  },
  "a reset in the body": raw((response, body) => {
    response.writeHead(200, { "content-length": body.length }).write(body.slice(0, 100), () => {
      response.socket?.resetAndDestroy();
    });
  }),
  "no HTTP": (response) => {
    response.socket?.end("I speak another protocol.\r\n\r\n");
  },
};
