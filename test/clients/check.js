// The scripts of clients share this: the deployment, our own routes, and comparisons.

export const [url, key, cuttingKey] = process.argv.slice(2);
/** The default model, of sentence vectors of the length 1. */
export const model = "bert-edge-mini";
export const texts = ["The mill stands at the brook.", "A mill is near a stream.", "Stocks fell on Monday."];
/** A text with more tokens than the model reads. Its beginning and its end differ. */
export const LONG = `${"The mill stands at the brook. ".repeat(150)}${"Stocks fell on Monday. ".repeat(150)}`;
/** Number of tokens that the model reads. */
export const MAX_TOKENS = 64;

/** The wire has 9 significant digits, and clients may compute in float32. */
const TOLERANCE = 1e-6;

/** Sends JSON, and returns status and JSON of the answer. */
export async function post(path, body) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: await response.json() };
}

/** Asks one of our own routes. */
export async function own(path, body) {
  const { status, json } = await post(path, body);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
  return json;
}

/** Returns our own vectors. */
export const vectorsOf = async (inputs, options) => (await own("/v1/embed", { inputs, ...options })).embeddings;

function isSame(found, expected) {
  if (typeof found === "number" && typeof expected === "number") {
    return Math.abs(found - expected) <= TOLERANCE * Math.max(1, Math.abs(expected));
  }
  if (typeof found !== "object" || typeof expected !== "object" || !found || !expected) return found === expected;
  const names = Object.keys(expected);
  return Object.keys(found).length === names.length && names.every((name) => isSame(found[name], expected[name]));
}

const shown = (value) => JSON.stringify(value)?.slice(0, 300);

/** Checks that two answers are the same, and that `other`, if there is one, is another. */
export function assertSame(name, found, expected, other) {
  if (!isSame(found, expected)) throw new Error(`${name}: ${shown(found)} instead of ${shown(expected)}`);
  if (other !== undefined && isSame(found, other)) throw new Error(`${name}: the field has no effect`);
  console.log(`  ${name}`);
}

/** Checks that a client shows an error with these words. */
export async function assertRefused(name, call, words) {
  const answer = await call().catch((error) => error);
  if (!(answer instanceof Error)) throw new Error(`${name}: ${shown(answer)} instead of an error`);
  // `@huggingface/inference` and the AI SDK keep the answer beside the message.
  const text = `${answer.message} ${shown(answer.httpResponse?.body ?? "")}`;
  if (!words.test(text)) throw new Error(`${name}: "${text}" instead of ${words}`);
  console.log(`  ${name}`);
}
