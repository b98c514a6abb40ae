import * as v from "valibot";
import { BertEdgeError } from "../artifact/error.ts";

/** Time limit of each request, in ms. A cold deployment loads its model for the first one. */
const TIMEOUT_MS = 30_000;

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
  tier: v.string(),
  provider: v.string(),
});
const Models = v.object({ data: v.array(v.object({ id: v.string() })) });

/** What a deployment says of itself, and what it shows to everyone. */
export interface InspectedDeployment {
  readonly kind: "deployment";
  readonly url: string;
  readonly info: v.InferOutput<typeof Info>;
  /** Names of all served models; the first is the default. */
  readonly models: readonly string[];
  /** Whether `/` shows the page, and whether browsers can load the model. */
  readonly page: boolean;
  readonly artifacts: boolean;
}

/**
 * Asks a deployment what it serves.
 *
 * @throws BertEdgeError `service_failed` if it does not answer, or is not bert-edge; `setting_invalid` if it refuses the key
 */
export async function inspectDeployment(url: string, readKey: () => string): Promise<InspectedDeployment> {
  const base = url.replace(/\/+$/, "");
  if (!URL.canParse(base)) throw notDeployed(url, "this is not a complete URL");
  const key = readKey();
  const get = async (path: string) => {
    try {
      const headers = { authorization: `Bearer ${key}` };
      return await fetch(`${base}${path}`, { headers, redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (cause) {
      throw notDeployed(url, "it does not answer", cause);
    }
  };
  const read = async <Schema extends v.GenericSchema>(path: string, schema: Schema) => {
    const response = await get(path);
    if (response.status === 401) {
      throw new BertEdgeError("setting_invalid", `${url} refuses the API key.`, {
        hint: "Set BERT_EDGE_API_KEY to one of its API keys.",
      });
    }
    const parsed = v.safeParse(schema, await response.json().catch(() => undefined));
    if (!response.ok || !parsed.success) throw notDeployed(url, `GET ${path} answers ${response.status}`);
    return parsed.output as v.InferOutput<Schema>;
  };
  const info = await read("/info", Info);
  const { data } = await read("/v1/models", Models);
  const page = await get("/");
  const pointer = await get(`/artifacts/models/${info.model_id}/current.json`);
  await Promise.all([page.body?.cancel(), pointer.body?.cancel()]);
  return {
    ...{ kind: "deployment", url: base, info },
    models: data.map(({ id }) => id),
    page: page.headers.get("content-type")?.startsWith("text/html") === true,
    artifacts: pointer.ok,
  };
}

const notDeployed = (url: string, why: string, cause?: unknown): BertEdgeError =>
  new BertEdgeError("service_failed", `${url} is not a bert-edge deployment: ${why}.`, {
    hint: "Check the URL. The log of the Worker says why it fails: `npx wrangler tail`.",
    cause,
  });

/** Describes a deployment, one property a line. */
export function deploymentReport({ url, info, models, page, artifacts }: InspectedDeployment): string {
  const dimensions = info.dimensions === undefined ? "" : `, ${info.dimensions} dimensions`;
  const rows = [
    ["model", `${info.model_id}@${info.model_sha}, ${info.model_dtype ?? "unknown precision"}`],
    ["task", `${info.task}${dimensions}`],
    ["engine", `${info.provider}, tier ${info.tier}`],
    ["all models", models.join(", ")],
    ["longest text", `${info.max_input_length} tokens`],
    [
      "request",
      `up to ${info.max_client_batch_size} inputs, ${info.max_body_bytes / 1e6} MB, ${info.max_wait_ms / 1_000} s of waiting`,
    ],
    ["page", page ? `${url}/` : "off"],
    ["weights", artifacts ? "given to callers with a key, or to everyone" : "not given to browsers"],
  ];
  return [url, ...rows.map(([name = "", value]) => `  ${name.padEnd(13)} ${value}`)].join("\n");
}
