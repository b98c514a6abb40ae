import { TINY } from "../../fixtures/tiny-model.ts";
import type { SeededChoice } from "../choose.ts";
import type { Json } from "../damage-json.ts";
import type { Mistake } from "./bodies.ts";
import { withText } from "./spellings.ts";

const { name } = TINY;

/** Other spellings of the served model, which are understood, and wrong ones. */
const UNDERSTOOD = [`models/${name}`, "TINY", "Tiny", `org/${name}`, `sentence-transformers/${name.toUpperCase()}`];
const WRONG: readonly Json[] = [
  ...["", " ", `${name} `, `${name}s`, "tіny", `${name}:latest`, `${name}@`, `${name}@latest`, `${name}@0123456789ab`],
  ...[`${name}@1@2`, `a/b/${name}`, `/${name}`, `../${name}`, `${name}.json`, "text-embedding-3-small"],
  ...["default", "null", `"${name}"`, "x".repeat(300), "тайни", "tiny\u0000", "gpt-4"],
  ...[7, true, [name], { name }, { id: name }, []],
];

/** Another name of the model in a body. */
export const modelInBody: Mistake = (request, choice) => {
  const model = choice.of<Json>([...WRONG, ...WRONG, ...UNDERSTOOD]);
  const json = { ...(request.json as { [name: string]: Json }), model };
  return {
    request: { ...request, json },
    what: `model ${shown(model)}`,
    names: ["model"],
    mayBeTaken: UNDERSTOOD.includes(model as string),
  };
};

/** Another name of the model in the path, before a route or of `GET /v1/models/<name>`. */
export const modelInPath: Mistake = (request, choice) => {
  const model = choice.of(
    [...WRONG, ...UNDERSTOOD].filter((each) => typeof each === "string" && each !== "") as string[],
  );
  const encoded = choice.of([
    encodeURIComponent(model),
    model.replaceAll("/", "%2F").replace(/[^!-~]/g, encodeURIComponent),
  ]);
  const mayBeTaken = UNDERSTOOD.includes(model);
  if (choice.below(4) === 0) {
    return {
      request: { ...request, method: "GET", path: `/v1/models/${encoded}` },
      what: `model ${shown(model)} in GET`,
      names: ["model"],
      // A version is looked for when its model is used.
      mayBeTaken: mayBeTaken || model.endsWith("@0123456789ab"),
    };
  }
  const path = `/models/${encoded}${request.path}`;
  return {
    request: { ...request, path },
    what: `model ${shown(model)} in the path`,
    names: ["model", path],
    mayBeTaken,
  };
};

const shown = (model: Json) => JSON.stringify(model).slice(0, 40);

const LONG = "word ".repeat(100).trim();

/** Fields by which clients say how long texts may be, and values of all dialects. */
const TRUNCATING: Readonly<Record<string, readonly Json[]>> = {
  truncate: [
    true,
    false,
    "true",
    "left",
    "LEFT",
    "Left",
    "NONE",
    "none",
    "END",
    "end",
    "START",
    1,
    0,
    512,
    "auto",
    {},
    ["left"],
  ],
  truncation: [true, "true", "longest_first", "only_first", false],
  truncation_direction: ["left", "LEFT", "Left", "start", "both", 1, true],
  truncation_side: ["left", "LEFT", "Right", "start", 1],
  truncate_prompt_tokens: [-1, 16, 0, 2, "16", 1.5, true, -2, 1e9],
  max_tokens: [16, "16", 0],
  max_length: [16, "16"],
  max_tokens_per_doc: [16, 0, "16", 1.5, -1],
  pool_chunks: [true, "true", 1],
};

/** Texts that are too long, with a field about it that is wrong or of another dialect. */
export const longTexts: Mistake = (request, choice: SeededChoice) => {
  const long = withText(request.json, LONG);
  const field = choice.of(Object.keys(TRUNCATING));
  const value = choice.of(TRUNCATING[field] as readonly Json[]);
  const { parameters } = Object(long) as { parameters?: object };
  const isInside = parameters !== undefined && choice.below(2) === 0;
  const json = isInside
    ? { ...Object(long), parameters: { ...parameters, [field]: value } }
    : { ...Object(long), [field]: value };
  return {
    request: { ...request, json },
    what: `${field}: ${JSON.stringify(value)}`,
    names: [field, "input", "tokens"],
    mayBeTaken: true,
  };
};
