import type { Access } from "../fixtures/start-embed.ts";

/** Words with one token each of the default model. */
export const WORDS = ["house", "river", "garden", "winter", "letter", "station", "window", "music", "water", "market"];

/** Maximum texts of a request. */
export const MOST_TEXTS = 2_048;

/** Writes a request for embeddings as it is sent. */
export function embedRequest(
  access: Access,
  inputs: readonly string[],
  { headers = {}, format = "base64" }: { headers?: Readonly<Record<string, string>>; format?: "base64" | "float" } = {},
): Buffer {
  const body = JSON.stringify({ inputs, truncate: true, encoding_format: format });
  return Buffer.concat([
    postHead(access, { "content-length": `${Buffer.byteLength(body)}`, ...headers }),
    Buffer.from(body),
  ]);
}

/** Writes the head of a request for embeddings. */
export function postHead({ url, key }: Access, headers: Readonly<Record<string, string>>): Buffer {
  const all = {
    host: new URL(url).host,
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(["POST /v1/embed HTTP/1.1", ...lines, "", ""].join("\r\n"));
}
