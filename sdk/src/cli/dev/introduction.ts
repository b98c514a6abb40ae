import { BertEdge } from "../../client/index.ts";
import { DEV_VARS, type Stack } from "./stack.ts";

const TEXT = "to be or not to be";
/** Number of vector elements that are shown. */
const SHOWN = 4;

/** Sends one request to the edge. Returns a text with the edge's URL and key, a command that sends the same request, and the answer. */
export async function introduction({ edge, keyIsNew, published }: Stack): Promise<string> {
  const { url, key } = edge;
  const { embeddings } = await new BertEdge({ baseURL: url, apiKey: key }).embed(TEXT);
  const vector = embeddings[0] ?? new Float32Array();
  const numbers = [...vector.subarray(0, SHOWN)].map((value) => value.toFixed(4));
  return [
    `${published.name}@${published.version} is served at ${url}. The API key is ${key}.`,
    ...(keyIsNew
      ? [
          `${DEV_VARS} has no plain key in API_KEYS, so this key is new. To keep one, add a line to ${DEV_VARS}: API_KEYS=<key>`,
        ]
      : []),
    "\nTry it:\n",
    curl(url, key),
    `\nThe answer has ${vector.length} numbers: [${numbers.join(", ")}, …]`,
  ].join("\n");
}

const curl = (url: string, key: string): string =>
  `curl ${url}/v1/embed -H 'authorization: Bearer ${key}' -H 'content-type: application/json' -d '{"inputs": "${TEXT}"}'`;
