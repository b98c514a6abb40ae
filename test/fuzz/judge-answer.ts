import { ATTRIBUTES_HEADER, readAttributes, STATUS_ATTRIBUTE } from "#sdk/serve/contract/sagemaker.ts";
import { decodeFloats } from "#sdk/serve/contract/vector-text.ts";
import { dialects, routesOf } from "#sdk/serve/dialects/index.ts";
import { embedRoute } from "#sdk/serve/tasks/embed.ts";

const schemas = new Map(routesOf(dialects).map(({ path, response }) => [path, response]));
/** The route of SageMaker is that of the path in the attributes, here always this one. */
schemas.set("/invocations", embedRoute.response);

/** What `answerError` says instead of an unexpected error, in every dialect and with statuses such as TEI's 424. */
const UNEXPECTED = /The service failed unexpectedly|The model cannot be loaded or run now|cannot be loaded now/;

/** Fields whose strings are vectors in base64. */
const VECTORS: ReadonlySet<string> = new Set(["embedding", "embeddings", "outputs", "base64"]);

/**
 * Returns the outcome of a request.
 *
 * @param route path of the route in the table; another path has no schema
 * @param body body of the request
 * @throws an error if an answer is not what its route describes, has a number that is not finite, or is an unexpected failure
 */
export async function judgeAnswer(response: Response, route: string, body: string): Promise<string> {
  const status = statusOf(response);
  const answer = await response.text();
  if (UNEXPECTED.test(answer)) throw new Error(`HTTP ${status} ${answer}`);
  if (status === 200 || status === 204) {
    judgeContent(response, answer, route, body);
    return "accepted";
  }
  const isRefusal = (status >= 400 && status < 500) || status === 503;
  if (!isRefusal) throw new Error(`HTTP ${status} ${answer}`);
  return /"code":\s*"([a-z_]+)"/.exec(answer)?.[1] ?? (status === 503 ? "model_unavailable" : `http_${status}`);
}

/** SageMaker passes only some statuses on, so that a refusal can have its status in an attribute. */
function statusOf({ status, headers }: Response): number {
  const hidden = readAttributes(headers.get(ATTRIBUTES_HEADER)).get(STATUS_ATTRIBUTE);
  return hidden === undefined ? status : Number(hidden);
}

function judgeContent({ headers }: Response, answer: string, route: string, body: string): void {
  if (answer === "" || !headers.get("content-type")?.startsWith("application/json")) {
    if (/\bNaN\b|\bInfinity\b/.test(answer)) throw new Error(`The answer has no number: ${answer}`);
    return;
  }
  const content: unknown = JSON.parse(answer);
  const schema = schemas.get(route);
  const parsed = schema?.["~standard"].validate(content);
  if (parsed && "issues" in parsed && parsed.issues)
    throw new Error(`${parsed.issues.map(({ message }) => message)}: ${answer}`);
  // `JSON.stringify` writes NaN as null.
  const mayBeNull = route === "/tokenize" || schema === undefined;
  for (const { name, value } of valuesIn(content)) {
    const isWrong =
      typeof value === "number"
        ? !Number.isFinite(value)
        : (value === null && !mayBeNull) ||
          (typeof value === "string" &&
            VECTORS.has(name) &&
            hasFloats(body) &&
            !decodeFloats(value).every(Number.isFinite));
    if (isWrong) throw new Error(`${name} is ${JSON.stringify(value)}: ${answer}`);
  }
}

/** Whether the vectors of an answer are float32. Those of other types have a byte or a bit for each dimension. */
const hasFloats = (body: string): boolean => !/"output_type":\s*"(?!float")/.test(body);

/** Lists the values of a document that have no parts, with the name of the field that they are in. */
function* valuesIn(content: unknown, name = ""): Generator<{ readonly name: string; readonly value: unknown }> {
  if (Array.isArray(content)) for (const part of content) yield* valuesIn(part, name);
  else if (typeof content === "object" && content !== null)
    for (const [key, part] of Object.entries(content)) yield* valuesIn(part, key);
  else yield { name, value: content };
}
