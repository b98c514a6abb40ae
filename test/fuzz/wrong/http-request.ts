import type { Json } from "../damage-json.ts";

/** A request as a user sends it. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body that is meant. */
  readonly json: Json;
  /** Writes the body. Default: JSON. */
  readonly write?: ((json: Json) => string | Uint8Array<ArrayBuffer> | null) | undefined;
}

/** Returns the bytes of a request, for the `Request` of a test. */
export function initOf({ method, headers, json, write = JSON.stringify }: HttpRequest): RequestInit {
  const body = method === "GET" || method === "HEAD" ? null : write(json);
  // Fetch gives text a content type of its own.
  return { method, headers, body: typeof body === "string" ? new TextEncoder().encode(body) : body };
}

/** Returns message and hint of an error in any dialect. */
export function textsOf(json: unknown): { code?: string | undefined; message: string; hint?: string | undefined } {
  const { error, message } = Object(json) as { error?: unknown; message?: string };
  if (typeof error === "string") return { message: error };
  const { code, message: inner, hint } = Object(error) as { code?: string; message?: string; hint?: string };
  return inner === undefined ? { message: message ?? "" } : { code, message: inner, hint };
}

/** Reads the JSON at the beginning of a text; undefined if there is none. */
function leadingJson(text: string): Json | undefined {
  for (let end = text.length; end > 0; end--) {
    try {
      return JSON.parse(text.slice(0, end)) as Json;
    } catch {}
  }
  return undefined;
}

type Fields = { [name: string]: Json };

/** Changes an object of a body, by a name with dots. */
function withField(json: Json, name: string, change: (fields: Fields, key: string) => void): Json {
  const body = structuredClone(Object(json) as Fields);
  const keys = name.split(".");
  const last = keys.pop() as string;
  const owner = keys.reduce<unknown>((part, key) => Object(part)[key], body);
  if (typeof owner === "object" && owner !== null) change(owner as Fields, last);
  return body;
}

/** Changes all texts of a body. Empty lists get one. */
const withTexts = (json: Json, change: (text: string) => string): Json =>
  JSON.parse(JSON.stringify(json), (_, value: Json) =>
    typeof value === "string" ? change(value) : Array.isArray(value) && value.length === 0 ? [change("")] : value,
  ) as Json;

const sound = { write: undefined };

/** Changes a request as an error says; undefined if it says nothing about the request. */
export function followed(request: HttpRequest, said: string): HttpRequest | undefined {
  const text = said.replace(/\\u\{([0-9a-f]+)\}/g, (_, digits: string) =>
    String.fromCodePoint(Number.parseInt(digits, 16)),
  );
  const { path, json } = request;
  const method = /\bUse (POST|GET)\b/.exec(text)?.[1];
  if (method) return { ...request, method };
  if (/Send `Content-Type: application\/json`/.test(text))
    return { ...request, headers: { ...request.headers, "content-type": "application/json" } };
  const encoding = /header content-encoding|without `content-encoding`/i.test(text);
  if (encoding) {
    const { "content-encoding": _, ...headers } = request.headers;
    return { ...request, ...sound, headers };
  }
  const whole = /send a body such as (?=\{)/i.exec(text);
  if (whole) {
    const rest = text.slice(whole.index + whole[0].length);
    const to = /^.*\} to (\/\S*?)(?:,|\.?$)/.exec(rest)?.[1];
    const body = leadingJson(to ? rest.slice(0, rest.indexOf("} to ") + 1) : rest);
    return body === undefined ? undefined : { ...request, ...sound, path: to ?? path, json: body };
  }
  const renamed = /there is `([^`]+)`. Did you mean `([^`]+)`\?/.exec(text);
  const meant = renamed ?? /at (\S+): .*Did you mean `([^`]+)`\?/.exec(text);
  if (meant) {
    const [, wrong = "", right = ""] = meant;
    const at = /not valid at ((?:[\w-]+\.)*)/.exec(text)?.[1] ?? "";
    const full = wrong.includes(".") ? wrong : `${at}${wrong}`;
    return {
      ...request,
      ...sound,
      json: withField(json, full, (fields, key) => {
        fields[right] = fields[key] as Json;
        delete fields[key];
      }),
    };
  }
  const named = /Set the model in the path to ("[^"]*")/.exec(text);
  if (named) {
    const name = JSON.parse(named[1] ?? "") as string;
    return { ...request, path: path.replace(/\/models\/[^/]+/, `/models/${name}`) };
  }
  const left = /(?:leave|correct) `([^`]+)`/i.exec(text);
  if (left) return { ...request, ...sound, json: withField(json, left[1] ?? "", (fields, key) => delete fields[key]) };
  const set = /set `([\w.]+)` to (?:a value such as |one of )?/i.exec(text);
  if (set) {
    const value = leadingJson(text.slice(set.index + set[0].length));
    if (value === undefined) return undefined;
    const [first = "", inner] = (set[1] ?? "").split(".");
    const fields = Object(json) as Fields;
    const changed = inner === undefined ? value : { ...Object(fields[first]), [inner]: value };
    return { ...request, ...sound, json: { ...fields, [first]: changed } };
  }
  if (/leave the (field|budget) out/.test(text))
    return { ...request, ...sound, json: withField(json, "latency_budget_ms", (fields, key) => delete fields[key]) };
  // Only people know another text. Any will do here.
  if (/ (?:is|are) empty|Send at least one|needs at least one character/.test(text))
    return { ...request, ...sound, json: withTexts(json, (old) => (old.trim() === "" ? "to be" : old)) };
  if (/Write \[MASK\]/.test(text)) return { ...request, ...sound, json: withTexts(json, (old) => `[MASK] ${old}`) };
  const route = /Did you mean (\/[\w/-]*)/.exec(text);
  if (route) return { ...request, path: route[1] ?? "" };
  return undefined;
}
