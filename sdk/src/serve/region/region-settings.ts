import { BertEdgeError } from "../../artifact/error.ts";

/** Credentials of an AWS user who may call the region. */
export interface AwsAccess {
  accessKeyId: string;
  secretAccessKey: string;
  /** The AWS region of the service, for example `eu-central-1`. Default: the AWS region in the URL. */
  region?: string | undefined;
  /**
   * The AWS service. Default `lambda`: a function URL whose authorizer is `aws_iam`. With `sagemaker`, the URL is
   * `https://runtime.sagemaker.<AWS region>.amazonaws.com/endpoints/<endpoint>`.
   */
  service?: string | undefined;
}

const httpDialects = ["bert-edge", "tei", "openai"] as const;
export type HttpDialect = (typeof httpDialects)[number];

/** A region with a URL. */
export interface HttpRegionAddress {
  /**
   * The dialect of the region. `bert-edge`: a deployment of `createRegionApp`. `tei`: text-embeddings-inference.
   * `openai`: any server with OpenAI's route `/embeddings`. Default `bert-edge`.
   */
  dialect?: HttpDialect | undefined;
  /** The region's URL, such as `https://region.example.com`. Paths are appended. For `openai`, it usually ends in `/v1`. */
  url: string;
  /** The region's API key. The dialect `bert-edge` requires a key, unless `aws` is given and the region checks no keys. */
  key?: string | undefined;
  /** Credentials that sign the requests for AWS. The key is then sent in `x-api-key`, or not at all on SageMaker. */
  aws?: AwsAccess | undefined;
  /** The name of the model on the server, for `openai`. */
  model?: string | undefined;
  /** Maximum number of texts per request to the region, for `tei` and `openai`. Default 32. */
  maxInputs?: number | undefined;
}

/** The binding of Workers AI: https://developers.cloudflare.com/workers-ai/configuration/bindings */
export interface WorkersAiBinding {
  run(
    model: string,
    inputs: Record<string, unknown>,
    options: { returnRawResponse: true; signal: AbortSignal },
  ): Promise<unknown>;
}

/** A model of Workers AI. */
export interface WorkersAiAddress {
  dialect: "workers-ai";
  ai: WorkersAiBinding;
  /** The model's name in the catalogue, for example `@cf/baai/bge-small-en-v1.5`. */
  model: string;
  /** Pooling of the hidden states. Default: the pooling of the model in the catalogue. */
  pooling?: "mean" | "cls" | undefined;
  /** Maximum number of texts per request to the region. Default 100. */
  maxInputs?: number | undefined;
}

export type RegionAddress = HttpRegionAddress | WorkersAiAddress;

export interface RegionTiming {
  /** Assumed time for the network, in ms, until a fetch has been measured. Default 50. */
  priorMs?: number;
  /** Timeout of a fetch, in ms. A budget can shorten it, and a long computation extends it. Default 10,000. */
  timeoutMs?: number;
  /** A probe measures the region again when the last measurement is older than this time, in ms. Default 30,000. */
  probeMs?: number;
  fetch?: typeof fetch;
  now?: () => number;
}

export type RegionTierOptions = RegionAddress & RegionTiming;

/** TEI takes 32 texts unless it is started with another limit: https://huggingface.co/docs/text-embeddings-inference/cli_arguments */
const HTTP_INPUTS = 32;
/** Maximum of Workers AI: https://developers.cloudflare.com/workers-ai/models/bge-small-en-v1.5 */
const WORKERS_AI_INPUTS = 100;

/**
 * Checks the settings of a region, and removes white space around them. Error messages show neither the URL nor secrets.
 *
 * @throws BertEdgeError `setting_invalid`
 */
export const regionSettings = (address: RegionAddress) =>
  address.dialect === "workers-ai" ? workersAiSettings(address) : httpSettings(address);

export type RegionSettings = ReturnType<typeof regionSettings>;
export type HttpRegionSettings = ReturnType<typeof httpSettings>;

function workersAiSettings({ dialect, ai, model, pooling, maxInputs = WORKERS_AI_INPUTS }: WorkersAiAddress) {
  if (typeof ai?.run !== "function") {
    throw new BertEdgeError("setting_invalid", "The region's option `ai` is not a binding of Workers AI.", {
      hint: 'Add [ai] with binding = "AI" to wrangler.toml, and give env.AI.',
    });
  }
  if (pooling !== undefined && pooling !== "mean" && pooling !== "cls") {
    throw invalid("REGION_POOLING", "is neither mean nor cls", "Set REGION_POOLING to mean or cls, or leave it out.");
  }
  return { dialect, ai, model: headerText("REGION_MODEL", model), pooling, maxInputs: checkInputs(maxInputs) };
}

function httpSettings({ dialect, url, key, aws, model, maxInputs = HTTP_INPUTS }: HttpRegionAddress) {
  const known = httpDialects.find((name) => name === (dialect ?? "bert-edge"));
  if (known === undefined) {
    const names = `one of ${httpDialects.join(", ")}`;
    throw invalid("REGION_DIALECT", `is not ${names}`, `Set REGION_DIALECT to ${names}, or leave it out.`);
  }
  const access = aws && awsSettings(aws);
  if (access?.service === "sagemaker" && known !== "bert-edge") {
    const hint = "Deploy bert-edge's region on SageMaker, or leave REGION_DIALECT out.";
    throw invalid("REGION_DIALECT", `cannot be ${known} on SageMaker`, hint);
  }
  const keyless = (access !== undefined || known !== "bert-edge") && (key ?? "").trim() === "";
  return {
    dialect: known,
    base: baseOf(url),
    /** Empty without a key. */
    key: keyless ? "" : headerText("REGION_KEY", key),
    aws: access,
    /** Empty if the dialect needs none. */
    model: known === "openai" ? headerText("REGION_MODEL", model) : "",
    maxInputs: known === "bert-edge" ? Number.POSITIVE_INFINITY : checkInputs(maxInputs),
  };
}

const awsSettings = ({ accessKeyId, secretAccessKey, region, service = "lambda" }: AwsAccess) => ({
  accessKeyId: headerText("REGION_AWS_ACCESS_KEY_ID", accessKeyId),
  secretAccessKey: headerText("REGION_AWS_SECRET_ACCESS_KEY", secretAccessKey),
  ...(region !== undefined && { region: headerText("REGION_AWS_REGION", region) }),
  service: headerText("REGION_AWS_SERVICE", service),
});

function checkInputs(maxInputs: number): number {
  if (Number.isSafeInteger(maxInputs) && maxInputs > 0) return maxInputs;
  throw new BertEdgeError("setting_invalid", `The region's option maxInputs cannot be ${String(maxInputs)}.`, {
    hint: "Give a positive whole number, or leave it out.",
  });
}

/** Returns the region's URL, which ends with a slash, and has no credentials, query or fragment. */
function baseOf(url: string): URL {
  const hint = "Set REGION_URL to a URL such as https://region.example.com, or leave it out.";
  const fault = (what: string) => invalid("REGION_URL", what, hint);
  const base = URL.parse(String(url).trim());
  if (!base) throw fault("is not a complete URL");
  if (base.protocol !== "https:" && base.protocol !== "http:") throw fault("is not an http or https URL");
  if (base.username || base.password) throw fault("contains credentials");
  if (base.search || base.hash) throw fault("has a query or a fragment");
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return base;
}

/** Trims a setting, and checks that it has only visible ASCII characters: clients and servers disagree about others in headers. */
function headerText(setting: string, value: string | undefined): string {
  const text = value?.trim() ?? "";
  if (text === "") throw invalid(setting, "is missing");
  if (!/^[!-~]+$/.test(text)) throw invalid(setting, "contains characters that a header cannot carry");
  return text;
}

const invalid = (
  setting: string,
  fault: string,
  hint = `Set ${setting} to one line of printable ASCII characters without blanks.`,
): BertEdgeError => new BertEdgeError("setting_invalid", `The setting ${setting} of the region ${fault}.`, { hint });
