import { BertEdgeError } from "../../artifact/error.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { MAX_SETTINGS_BYTES } from "../../compile/files/whole-file.ts";
import { TIER_HEADER } from "../../serve/contract/headers.ts";
import { boundedText } from "../../storage/bounded-text.ts";
import { cpuLimitLine, inspectDeployment } from "../inspect-deployment.ts";
import { DEV_VARS } from "../wrangler/variables.ts";
import { isRegional, type Stack } from "./stack.ts";

/** Maximum characters of an answer that are shown. */
const SHOWN = 200;
/** Timeout of a request, in ms. The first request waits until the model is loaded. */
const TIMEOUT_MS = 60_000;
/** Number of warm-up requests to each tier. New engines and connections are slow, and the developer's first request should not be. */
const WARM_REQUESTS = 8;

/**
 * Sends a request to the edge, and some more to each tier. Returns a text with the edge's URL and key, a command that sends the same
 * request, and the answer.
 *
 * @throws BertEdgeError `service_failed` if the Worker has other routes, and the errors of `inspectDeployment`
 */
export async function introduction(
  { edge, region, keyIsNew, published }: Stack,
  manifests: readonly Manifest[],
): Promise<string> {
  const { url, key } = edge;
  const manifest = manifests[0] as Manifest;
  const { path, body } = exampleFor(manifest);
  const json = JSON.stringify(body);
  const send = (headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
      body: json,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  const response = await send();
  const answer = (await boundedText(response, MAX_SETTINGS_BYTES)) ?? "";
  if (!response.headers.get("content-type")?.startsWith("application/json")) {
    throw new BertEdgeError("service_failed", `The Worker runs, but POST ${path} answers no JSON.`, {
      hint: "Export an app of createEdgeApp at the root, or run the Worker with wrangler alone.",
    });
  }
  for (const tier of region && isRegional(manifest) ? ["edge", "region"] : ["edge"]) {
    for (let i = 0; i < WARM_REQUESTS; i++) {
      // Errors are ignored: without the warm-up, the developer's first request is only slower.
      await send({ [TIER_HEADER]: tier }).then(
        (response) => boundedText(response, MAX_SETTINGS_BYTES),
        () => {},
      );
    }
  }
  const { info, page } = await inspectDeployment(url, { key });
  const limit = cpuLimitLine(info);
  return [
    `${published.map(({ name, version }) => `${name}@${version}`).join(", ")} ${published.length > 1 ? "are" : "is"} served at ${url}`,
    "",
    ...(page ? [`  page     ${url}/#key=${encodeURIComponent(key)}`] : []),
    `  API key  ${key}`,
    ...(keyIsNew
      ? ["", `${DEV_VARS} has no plain key in API_KEYS, so this key is new. To keep it, add:`, `  API_KEYS=${key}`]
      : []),
    "",
    "Try it:",
    "",
    `  curl ${url}${path} \\`,
    `    -H 'authorization: Bearer ${key}' \\`,
    "    -H 'content-type: application/json' \\",
    `    -d '${json}'`,
    "",
    `The answer: ${described(answer)}`,
    ...(limit === undefined ? [] : ["", `A request has ${limit}.`]),
  ].join("\n");
}

/** Describes an answer: a vector by its size and its first numbers, everything else by its JSON. */
function described(answer: string): string {
  const parsed = JSON.parse(answer) as { embeddings?: unknown[] };
  const vector = parsed.embeddings?.[0];
  if (Array.isArray(vector) && typeof vector[0] === "number") {
    const first = vector.slice(0, 4).map((value: number) => value.toFixed(4));
    return `a vector of ${vector.length} numbers: [${first.join(", ")}, …]`;
  }
  // With spaces, so that a terminal's lines can be broken.
  const spaced = JSON.stringify(parsed, null, 1).replace(/\n\s*/g, " ");
  return spaced.length > SHOWN ? `${spaced.slice(0, SHOWN)}…` : spaced;
}

/** A request that a model can answer. */
interface Example {
  readonly path: string;
  readonly body: object;
}

const TEXT = "to be or not to be";
const SENTENCE = "Anna works in New York.";

/** Returns a request that shows what a model does. */
function exampleFor(manifest: Manifest): Example {
  switch (manifest.task) {
    case "embed":
      return { path: "/v1/embed", body: { inputs: TEXT } };
    case "classify": {
      if (manifest.input === "text") return { path: "/v1/classify", body: { inputs: TEXT } };
      return manifest.labels.length === 1
        ? { path: "/v1/rerank", body: { query: "Where does Anna work?", documents: [SENTENCE, TEXT] } }
        : { path: "/v1/classify", body: { inputs: { text: SENTENCE, text_pair: "Anna has a job." } } };
    }
    case "tag":
      return { path: "/v1/tag", body: { inputs: SENTENCE } };
    case "answer":
      return { path: "/v1/answer", body: { question: "Where does Anna work?", context: SENTENCE } };
    case "sparse":
      return { path: "/v1/sparse", body: { inputs: TEXT } };
    case "token-vectors":
      return { path: "/v1/token-vectors", body: { inputs: TEXT } };
    case "fill-mask":
      return { path: "/v1/fill-mask", body: { inputs: `Anna works in ${manifest.mask.token} York.` } };
  }
}
