import { gzipSync } from "node:zlib";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { dialects } from "#sdk/serve/dialects/index.ts";
import { openApiDocument } from "#sdk/serve/openapi/document.ts";
import type { SeededChoice } from "../choose.ts";
import type { Json } from "../damage-json.ts";
import { followed, type HttpRequest, initOf, textsOf } from "./http-request.ts";
import { type SoundRequest, soundRequests } from "./served-tasks.ts";
import { isField, misspelt, placesIn, withName, withValue, wrongValue } from "./spellings.ts";
import type { Refusal, WrongInput, WrongInputs } from "./wrong-input.ts";

/** A change of a request: what the refusal must name, and whether the request may still be answered. */
interface Change {
  readonly request: HttpRequest;
  readonly what: string;
  readonly names: readonly string[];
  readonly mayBeTaken?: boolean;
}
export type Mistake = (request: HttpRequest, choice: SeededChoice) => Change;

const textBytes = (text: string, encoding: BufferEncoding) => Uint8Array.from(Buffer.from(text, encoding));
const written = (request: HttpRequest, write: HttpRequest["write"], type = "application/json"): HttpRequest => ({
  ...request,
  write,
  headers: { ...request.headers, "content-type": type },
});

/** Writes a body as a form of a page does. */
const asForm = (json: Json): string =>
  new URLSearchParams(
    Object.entries(json as object).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  ).toString();

const FORM = "application/x-www-form-urlencoded";
const asPython = (json: Json) =>
  JSON.stringify(json).replaceAll('"', "'").replaceAll("true", "True").replaceAll("false", "False");

/** Ways to send a sound body so that it is not JSON. */
const ENCODINGS: Readonly<Record<string, (request: HttpRequest) => HttpRequest>> = {
  "a comma at the end": (request) => written(request, (json) => JSON.stringify(json).replace(/\}$/, ",}")),
  "single quotes": (request) => written(request, asPython),
  "a comment": (request) => written(request, (json) => `// a search\n${JSON.stringify(json)}`),
  "JSON in a string": (request) => written(request, (json) => JSON.stringify(JSON.stringify(json))),
  "a form": (request) => written(request, asForm, FORM),
  "a form as JSON": (request) => written(request, asForm),
  "JSON as a form": (request) => written(request, JSON.stringify, FORM),
  "JSON as text": (request) => written(request, JSON.stringify, "text/plain;charset=UTF-8"),
  "no content type": (request) => ({ ...request, headers: {} }),
  "a form of parts": (request) =>
    written(
      request,
      (json) => `--x\r\ncontent-disposition: form-data; name="json"\r\n\r\n${JSON.stringify(json)}\r\n--x--\r\n`,
      "multipart/form-data; boundary=x",
    ),
  "no body": (request) => written(request, () => null),
  "an empty body": (request) => written(request, () => ""),
  "query parameters": (request) => ({
    ...written(request, () => null),
    path: `${request.path}?${asForm(request.json).slice(0, 200)}`,
  }),
  "UTF-16": (request) => written(request, (json) => textBytes(`\ufeff${JSON.stringify(json)}`, "utf16le")),
  "two documents": (request) => written(request, (json) => `${JSON.stringify(json)}\n${JSON.stringify(json)}`),
  "half a document": (request) => written(request, (json) => JSON.stringify(json).slice(0, -5)),
  "base64 of JSON": (request) => written(request, (json) => Buffer.from(JSON.stringify(json)).toString("base64")),
  "gzip without a word": (request) => written(request, (json) => Uint8Array.from(gzipSync(JSON.stringify(json)))),
  gzip: (request) => {
    const sent = written(request, (json) => Uint8Array.from(gzipSync(JSON.stringify(json))));
    return { ...sent, headers: { ...sent.headers, "content-encoding": "gzip" } };
  },
  "a list as root": (request) => written(request, (json) => JSON.stringify([json])),
  "the inputs alone": (request) => written(request, (json) => JSON.stringify(Object.values(json as object)[0])),
};

/** Ways to send a sound body to a wrong place. */
const PLACES: Readonly<Record<string, (request: HttpRequest) => HttpRequest>> = {
  "two slashes": (request) => ({ ...request, path: `/${request.path}` }),
  "two slashes within": (request) => ({ ...request, path: request.path.replace(/(.)\//, "$1//") }),
  "capitals in the path": (request) => ({ ...request, path: request.path.toUpperCase() }),
  "the version twice": (request) => ({
    ...request,
    path: request.path.replace(/^\/(v\d)?/, "/$1/v1/").replaceAll("//", "/"),
  }),
  "no version": (request) => ({ ...request, path: request.path.replace(/^\/v\d/, "") || "/" }),
  "a prefix": (request) => ({ ...request, path: `/api${request.path}` }),
  "a path in the plural": (request) => ({
    ...request,
    path: request.path.endsWith("s") ? request.path.slice(0, -1) : `${request.path}s`,
  }),
  "an encoded path": (request) => ({ ...request, path: request.path.replaceAll("/", "%2F").replace("%2F", "/") }),
  "a space in the path": (request) => ({ ...request, path: `${request.path}%20` }),
  "an underscore in the path": (request) => ({
    ...request,
    path: request.path.replace(/-|(?<=v1.{4,})(?=[a-z]{5}$)/, "_"),
  }),
  GET: (request) => ({ ...request, method: "GET" }),
  PUT: (request) => ({ ...request, method: "PUT" }),
  PATCH: (request) => ({ ...request, method: "PATCH" }),
};

/** Numbers as text that no JSON number has, or that JavaScript reads as Infinity. */
const NO_NUMBERS = ["NaN", "Infinity", "1e999", "1_000", "0x10", "05", "+1", ".5", "1,5", "9".repeat(400)];

const fieldsOf = (json: Json): string[] => placesIn(json).filter(isField);
const nameOf = (place: string): string => place.split(".").at(-1) as string;

/** A value of another kind, in a field or an item. */
export const wrongKind: Mistake = (request, choice) => {
  const place = choice.of(placesIn(request.json));
  const json = withValue(request.json, place, (old) => wrongValue(old, choice));
  return { request: { ...request, json }, what: place, names: namesOf(place), mayBeTaken: true };
};

/** The refusal names a field, or one around it, or the item of a list: `target`, or `text` of `text_2`. */
const namesOf = (place: string): string[] =>
  place.split(".").flatMap((part) => {
    if (/^\d+$/.test(part)) return [];
    // One text is compared with the others in several dialects.
    const other = /^(source|text_1)/.test(part) ? ["compared with the others"] : part === "texts" ? ["document"] : [];
    return [part, part.replace(/_?\d$|s$/, ""), ...other];
  });

export const misspeltName: Mistake = (request, choice) => {
  const place = choice.of(fieldsOf(request.json));
  const name = misspelt(nameOf(place), choice);
  return {
    request: { ...request, json: withName(request.json, place, name) },
    what: `${place} as ${JSON.stringify(name)}`,
    names: [nameOf(place), name],
  };
};

export const missing: Mistake = (request, choice) => {
  const place = choice.of(placesIn(request.json));
  const json = withValue(request.json, place, () => undefined);
  return { request: { ...request, json }, what: `no ${place}`, names: namesOf(place), mayBeTaken: true };
};

export const noNumber: Mistake = (request, choice) => {
  const place = choice.of(fieldsOf(request.json));
  const number = choice.of(NO_NUMBERS);
  const json = withValue(request.json, place, () => "@number");
  const write = () => JSON.stringify(json).replace('"@number"', number);
  return {
    request: { ...request, write },
    what: `${place} is ${number.slice(0, 12)}`,
    names: ["JSON", nameOf(place)],
    mayBeTaken: true,
  };
};

export const twice: Mistake = (request, choice) => {
  const place = choice.of(Object.keys(request.json as object));
  const value = wrongValue((request.json as { [name: string]: Json })[place] as Json, choice);
  const write = (json: Json) =>
    JSON.stringify(json).replace(/\}$/, `,${JSON.stringify(place)}:${JSON.stringify(value)}}`);
  return { request: { ...request, write }, what: `${place} twice`, names: namesOf(place), mayBeTaken: true };
};

export const encoded: Mistake = (request, choice) => {
  const what = choice.of(Object.keys(ENCODINGS));
  return {
    request: (ENCODINGS[what] as (typeof ENCODINGS)[string])(request),
    what,
    names: ["JSON", "content type", "its root", ...Object.keys(Object(request.json))],
  };
};

/** A latency budget in words, or with a unit. */
export const budget: Mistake = (request, choice) => {
  const latency_budget_ms = choice.of<Json>(["soon", "30ms", "30", [], true, -1, 0, 1e12, { ms: 30 }]);
  const json = { ...(request.json as { [name: string]: Json }), latency_budget_ms };
  return { request: { ...request, json }, what: "latency_budget_ms", names: ["budget"], mayBeTaken: true };
};

export const byteOrderMark: Mistake = (request) => ({
  request: written(request, (json) => `\ufeff${JSON.stringify(json)}`),
  what: "a byte order mark",
  names: [],
  mayBeTaken: true,
});

export const misplaced: Mistake = (request, choice) => {
  // Nothing tells which path was meant instead of the root.
  const what = choice.of(Object.keys(PLACES).filter((place) => request.path !== "/" || /^[A-Z]+$/.test(place)));
  const sent = (PLACES[what] as (typeof PLACES)[string])(request);
  // The path can be that of another dialect.
  return {
    request: sent,
    what,
    names: [sent.path.replace("%20", ""), ...Object.keys(Object(request.json))],
    mayBeTaken: true,
  };
};

/** Null where a value is needed, or within a value. */
export const nullInside: Mistake = (request, choice) => {
  const place = choice.of(placesIn(request.json));
  const json = withValue(request.json, place, (old) =>
    choice.of<Json>([
      null,
      null,
      Array.isArray(old) ? [...old, null] : null,
      typeof old === "object" ? { ...Object(old), text: null } : null,
    ]),
  );
  return { request: { ...request, json }, what: `null in ${place}`, names: namesOf(place), mayBeTaken: true };
};

export const nullBody: Mistake = (request, choice) => {
  const json = choice.of<Json>([
    null,
    [null],
    { inputs: null, input: null, texts: null, query: null, documents: null },
    "null",
  ]);
  return {
    request: { ...request, json },
    what: "null as body",
    names: ["its root", ...Object.keys(Object(request.json))],
  };
};

/** Makes wrong requests. */
export function requestsWith(
  mistakes: readonly Mistake[],
  isWanted: (path: string) => boolean = () => true,
): WrongInputs {
  return {
    async start() {
      const all = (await soundRequests()).filter(({ path }) => isWanted(path));
      const isDescribed = describedBodies();
      return (choice) => {
        const { app, path, body } = choice.of(all);
        const headers = { "content-type": "application/json" };
        const change = choice.of(mistakes)({ method: "POST", path, headers, json: structuredClone(body) }, choice);
        const { request, what, names } = change;
        // A body that the published schema has may be answered.
        const mayBeTaken =
          change.mayBeTaken &&
          (request.write !== undefined || request.path !== path || isDescribed(path, request.json));
        return wrongRequest(app, request, { shown: `POST ${path}: ${what}`, names, mayBeTaken: mayBeTaken ?? false });
      };
    },
  };
}

/** Returns whether `/openapi.json` describes a body of a route. */
function describedBodies(): (path: string, body: Json) => boolean {
  const ajv = new Ajv2020({ strict: false });
  const { paths } = openApiDocument(dialects) as { paths: Record<string, { post?: { requestBody?: object } }> };
  const checks = new Map<string, ValidateFunction>();
  return (path, body) => {
    const content = JSON.stringify(paths[path]?.post?.requestBody);
    const known =
      checks.get(path) ??
      ajv.compile(
        (JSON.parse(content) as { content: Record<string, { schema: object }> }).content["application/json"]?.schema ??
          {},
      );
    checks.set(path, known);
    return known(body);
  };
}

interface About {
  readonly shown: string;
  readonly names: readonly string[];
  readonly mayBeTaken: boolean;
}

function wrongRequest(app: SoundRequest["app"], request: HttpRequest, about: About): WrongInput {
  const sentAs = request.write ? request.write(request.json) : JSON.stringify(request.json);
  const body = typeof sentAs === "string" ? sentAs : sentAs === null ? "" : `<${sentAs.length} bytes>`;
  return {
    ...about,
    shown: `${about.shown}  ${body.length > 160 ? `${body.slice(0, 160)}…` : body}`,
    async give(): Promise<Refusal | undefined> {
      const response = await app.request(request.path, initOf(request));
      if (response.ok) return void (await response.arrayBuffer());
      return { status: `${response.status}`, ...textsOf(await response.json().catch(() => ({}))) };
    },
    followed({ message, hint = "" }) {
      const next = followed(request, `${message} ${hint}`);
      // The next mistake can be another one, in a field that the hint has set.
      return next && wrongRequest(app, next, { shown: "after a hint", names: [""], mayBeTaken: true });
    },
  };
}
