import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";
import { responseError } from "../client/response-error.ts";
import { withRetries } from "../client/with-retries.ts";
import { boundedText } from "../storage/bounded-text.ts";
import { KEY_VARIABLE } from "./api-key.ts";

/** Time for all requests together, in ms. A cold deployment loads its model for the first one. */
const TIMEOUT_MS = 60_000;
/** Maximum number of retries after a temporary error, such as one of a deployment that is loading its model. */
const MAX_RETRIES = 4;
/** Maximum bytes of a body that is read. Lists of models are much smaller. */
const MAX_BODY_BYTES = 1e6;

const Info = v.looseObject({
  model_id: v.string(),
  model_sha: v.string(),
  model_dtype: v.optional(v.string()),
  task: v.string(),
  dimensions: v.optional(v.number()),
  max_input_length: v.number(),
  max_client_batch_size: v.number(),
  max_body_bytes: v.number(),
  max_wait_ms: v.number(),
  default_latency_budget_ms: v.optional(v.number()),
  cpu_limit_ms: v.optional(v.number()),
  cpu_limit_tokens: v.optional(v.number()),
  reading: v.optional(v.looseObject({ accepted_keys: v.optional(v.array(v.string())) })),
  tier: v.string(),
  provider: v.string(),
});
const Models = v.object({ data: v.array(v.object({ id: v.string() })) });

/** A deployment's description of itself, and which optional routes it has. */
export interface InspectedDeployment {
  readonly kind: "deployment";
  readonly url: string;
  readonly info: v.InferOutput<typeof Info>;
  /** Names of all served models; the first is the default. */
  readonly models: readonly string[];
  /** Whether `/` shows the page. */
  readonly page: boolean;
  /** Whether browsers can load the files of the model. */
  readonly artifacts: boolean;
}

export interface InspectDeploymentOptions {
  /** API key; undefined for a deployment that needs none. */
  readonly key: string | undefined;
  /** File of the key, for messages; undefined if the key comes from the environment. */
  readonly keyFile?: string | undefined;
  /** Time limit for all requests together, in ms. */
  readonly timeoutMs?: number;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

/**
 * Asks a deployment what it serves. Asks again for a while if it cannot answer yet.
 *
 * @throws BertEdgeError `service_failed` if it does not answer, or is not bert-edge; `setting_invalid` if it refuses the key,
 *   or if the URL has a user name or a query
 * @throws BertEdgeClientError what the deployment answers in any other case
 */
export async function inspectDeployment(
  url: string,
  { key, keyFile, timeoutMs = TIMEOUT_MS, fetch: send = fetch }: InspectDeploymentOptions,
): Promise<InspectedDeployment> {
  const base = url.replace(/\/+$/, "");
  const bare = withoutSecrets(url);
  if (bare !== url) {
    throw new BertEdgeError("setting_invalid", `The URL has more than an address: a user name, or a query.`, {
      hint: `Give ${bare} alone, and an API key in ${KEY_VARIABLE} or with --key-file <file>.`,
    });
  }
  if (!URL.canParse(base)) throw notDeployed(url, "this is not a complete URL");
  const signal = AbortSignal.timeout(timeoutMs);
  const silent = (cause: unknown) => notDeployed(url, "it does not answer", cause);
  const get = async (path: string) => {
    const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
    try {
      const response = await send(`${base}${path}`, { headers, redirect: "manual", signal });
      return { response, body: (await boundedText(response, MAX_BODY_BYTES)) ?? "" };
    } catch (cause) {
      throw silent(cause);
    }
  };
  const read = async <Schema extends v.GenericSchema>(path: string, schema: Schema) => {
    const { response, body } = await get(path);
    if (response.status === 401) throw keyRefused(url, key, keyFile);
    if (!response.ok) {
      const error = responseError(response, body, []);
      // Only an error of bert-edge itself proves that the URL is a deployment.
      throw error.code === `http_${response.status}` && !error.retryable
        ? notDeployed(url, `GET ${path} answers ${response.status}`)
        : error;
    }
    const parsed = v.safeParse(schema, parsedJson(body));
    if (!parsed.success) throw notDeployed(url, `GET ${path} answers ${response.status}`);
    return parsed.output as v.InferOutput<Schema>;
  };
  const info = await withRetries(() => read("/info", Info), { maxRetries: MAX_RETRIES, signal }).catch((error) => {
    throw error === signal.reason ? silent(error) : error;
  });
  const { data } = await read("/v1/models", Models);
  const { response: page } = await get("/");
  const { response: pointer } = await get(`/artifacts/models/${info.model_id}/current.json`);
  return {
    ...{ kind: "deployment", url: base, info },
    models: data.map(({ id }) => id),
    page: page.headers.get("content-type")?.startsWith("text/html") === true,
    artifacts: pointer.ok,
  };
}

/** Removes what can be a secret: user name and password, query and fragment. Works on text that is no valid URL, too. */
const withoutSecrets = (url: string): string => url.replace(/[?#].*$/s, "").replace(/^([^/]*\/\/)[^/]*@/, "$1");

function keyRefused(url: string, key: string | undefined, keyFile: string | undefined): BertEdgeError {
  if (key === undefined) {
    return new BertEdgeError("setting_invalid", `${url} needs an API key.`, {
      hint: `Set ${KEY_VARIABLE} to one of its API keys, or name a file with one: --key-file <file>.`,
    });
  }
  const where = keyFile === undefined ? KEY_VARIABLE : `the file ${keyFile}`;
  return new BertEdgeError("setting_invalid", `${url} refuses the API key of ${where}.`, {
    hint: `Put one of the deployment's API keys into ${where}.`,
  });
}

/** Parses the body of an answer; undefined if it is no JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const notDeployed = (url: string, why: string, cause?: unknown): BertEdgeError =>
  new BertEdgeError("service_failed", `${url} is not a bert-edge deployment: ${why}.`, {
    hint: "Check the URL. The log of the Worker says why it fails: `npx wrangler tail`.",
    cause,
  });

/** Describes what a request can compute within the CPU limit; undefined if the longest text of the model fits. */
export function cpuLimitLine({
  cpu_limit_ms,
  cpu_limit_tokens,
  max_input_length,
}: InspectedDeployment["info"]): string | undefined {
  if (cpu_limit_tokens === undefined || cpu_limit_tokens >= max_input_length) return undefined;
  const room =
    cpu_limit_tokens > 0 ? `one text of up to ${cpu_limit_tokens} tokens, or several shorter ones` : "no text";
  return `${cpu_limit_ms} ms of CPU time (cpuLimitMs): ${room}`;
}

/** Describes a deployment, one property a line. */
export function deploymentReport({ url, info, models, page, artifacts }: InspectedDeployment): string {
  const { default_latency_budget_ms: defaultMs } = info;
  const dimensions = info.dimensions === undefined ? "" : `, ${info.dimensions} dimensions`;
  const rows = [
    ["model", `${info.model_id}@${info.model_sha}, ${info.model_dtype ?? "unknown precision"}`],
    ["task", `${info.task}${dimensions}`],
    ["engine", `${info.provider}, tier ${info.tier}`],
    ["all models", models.join(", ")],
    ["accepted keys", info.reading?.accepted_keys?.join(", ")],
    ["longest text", `${info.max_input_length} tokens`],
    [
      "request",
      `up to ${info.max_client_batch_size} inputs, ${info.max_body_bytes / 1e6} MB, ${info.max_wait_ms / 1_000} s of waiting`,
    ],
    ["CPU limit", cpuLimitLine(info)],
    ["budget", defaultMs === undefined ? undefined : `${defaultMs} ms, if a request gives none`],
    ["page", page ? `${url}/` : "off"],
    ["weights", artifacts ? "given to callers with a key, or to everyone" : "not given to browsers"],
  ];
  const known = rows.filter(([, value]) => value !== undefined);
  return [url, ...known.map(([name = "", value]) => `  ${name.padEnd(13)} ${value}`)].join("\n");
}
