import * as v from "valibot";
import { visible } from "../../artifact/printable.ts";
import type { Side, Truncation } from "../../runtime/truncation.ts";
import { NO_BUDGET, UNLIMITED_MS } from "./decision.ts";
import { tiers } from "./headers.ts";

/** The header `x-latency-budget-ms` as a field. */
export const LatencyBudget = v.pipe(
  v.optional(
    v.union([v.pipe(v.number(), v.finite()), v.literal(NO_BUDGET)], 'must be a number of milliseconds, or "none"'),
  ),
  v.transform((budget) => (budget === NO_BUDGET ? UNLIMITED_MS : budget)),
);

export const EncodingFormat = v.picklist(["float", "base64"]);
export type EncodingFormat = v.InferOutput<typeof EncodingFormat>;

/** Returns a name in lower case and without separators: `topn` for `top_n`, `topN`, `top-n` and `TOP_N`. */
const plain = (name: string): string => name.toLowerCase().replace(/[\W_]/g, "");

/**
 * Whether two names can mean the same: one begins with the other, or they differ only in two neighbouring letters. Capitals and
 * separators of words do not count.
 */
function isSimilar(a: string, b: string): boolean {
  const [short = "", long = ""] = [a, b].map(plain).sort((one, other) => one.length - other.length);
  if (short.length < 3) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end++;
  return start === short.length || long.length - start - end <= 2;
}

/** Returns the message about a missing field. If the name of an unknown field is similar, the message asks whether it is meant. */
const missingMessage =
  (entries: v.ObjectEntries) =>
  (issue: v.ObjectIssue): string => {
    const [missing] = issue.path ?? [];
    if (missing?.type !== "object") return issue.message;
    const unknown = Object.keys(missing.input).filter((key) => !(key in entries));
    const found =
      unknown.find((key) => isSimilar(key, missing.key)) ??
      unknown.find((key) => /^(texts?|sentences?|documents?|prompts?|quer(y|ies))$/.test(key));
    return `the field is missing${found === undefined ? "" : `, but there is \`${visible(found)}\`. Did you mean \`${missing.key}\`?`}`;
  };

/** Number of first letters that names with a related meaning share, such as `truncate` and `truncation_side`. */
const STEM = 5;

/** Names of the optional fields of all bodies. `objectOf` adds the names while the modules with the schemas load. */
const optionalFields = new Set<string>();

/**
 * Makes the schema of an object in a body. An optional field that is null counts as absent. Lists are refused, although valibot takes them
 * for objects. An unknown field is refused if it is an optional field of another body, or if its name is similar to that of an optional
 * field of this body: otherwise, it would have no effect.
 */
export const objectOf = <const Entries extends v.ObjectEntries>(entries: Entries) => {
  const fields = v.object(entries, missingMessage(entries));
  const optional = Object.keys(entries).filter((name) => entries[name]?.type === "optional");
  const obeyed = optional.filter((name) => !("advice" in (entries[name] as object)));
  for (const name of optional) optionalFields.add(name);
  const run: (typeof fields)["~run"] = ({ value: given }, config) => {
    const value = Array.isArray(given) ? "a list" : withoutNulls(given, optional);
    const body = Object(value) as Record<string, unknown>;
    const isOther = (key: string) => !(key in entries) && body[key] !== null;
    const others = typeof value === "object" ? Object.keys(body).filter(isOther) : [];
    const similarTo = (key: string) =>
      optional.find((name) => plain(name) === plain(key)) ??
      obeyed.find((name) => !Object.hasOwn(body, name) && isSimilar(key, name));
    const misspelt = others.find(similarTo);
    const read = fields["~run"]({ value }, config);
    const refused = misspelt ?? (read.issues ? undefined : others.find((key) => optionalFields.has(key)));
    if (refused === undefined) return read;
    const meant = similarTo(refused) ?? obeyed.find((name) => name.slice(0, STEM) === refused.slice(0, STEM));
    const field = v.picklist([], `there is no such field${meant === undefined ? "" : `. Did you mean \`${meant}\`?`}`);
    return v.object({ [refused]: field })["~run"]({ value }, config) as typeof read;
  };
  return { ...fields, "~run": run };
};

function withoutNulls(value: unknown, optional: readonly string[]): unknown {
  const fields = Object(value) as Record<string, unknown>;
  const nulls = optional.filter((name) => Object.hasOwn(fields, name) && fields[name] === null);
  if (nulls.length === 0) return value;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !nulls.includes(name)));
}

/**
 * Makes a field that other servers have. It accepts only values that ask for what bert-edge does anyway. Other values are refused.
 *
 * @param advice what to do instead of sending another value
 */
export const onlyAs = (values: readonly (string | number | boolean)[], advice = "Leave it out.") => ({
  ...v.optional(v.picklist(values as readonly string[], `is not supported. ${advice}`)),
  advice,
});

/** Cohere's name for inputs, refused with advice. Cohere's clients send this name to whatever route is configured. */
export const CohereTexts = onlyAs([], "Send `inputs`, or Cohere's body to /v2/embed.");

/** Name of the model, or `name@version`. Default: the default model of the deployment. */
export const ModelField = v.optional(v.string());

/** Whether to cut inputs that are too long: at the end, at the beginning, or (`true`) where the model's tokenizer cuts. */
export const TruncationField = v.union(
  [v.boolean(), v.picklist(["left", "right"])],
  "must be a boolean, left or right",
);
/** `TruncationField`, optional. Default: that of the key, of the deployment, or of the route. */
export const Truncate = v.optional(TruncationField);
/** `Truncate` for dialects in which this field is only a boolean. */
export const TruncateFlag = v.pipe(
  v.optional(v.boolean()),
  v.transform((truncate): Truncation | undefined => truncate),
);

/** Name of the prompt that is put before each text. Default: the model's default prompt, which most models do not have. */
export const PromptName = v.optional(v.string());

/** Cohere's and NVIDIA's words for whether and where texts are cut. */
export const truncations = { NONE: false, START: "left", END: "right" } as const;

/** text-embeddings-inference's name for the side at which texts are cut. Default: where the model's own tokenizer cuts them. */
export const TruncationDirection = v.optional(
  v.pipe(
    v.picklist(["Left", "left", "Right", "right"]),
    v.transform((side) => side.toLowerCase() as Side),
  ),
);

/** Makes the message about wrong inputs. It names the first item whose type is not allowed, or not that of the first item. */
export const inputMessage =
  (wanted: string, ...allowed: readonly string[]) =>
  ({ input }: v.BaseIssue<unknown>): string => {
    const kinds = Array.isArray(input)
      ? input.map((item) =>
          item === null
            ? "null"
            : `a${typeof item === "object" ? (Array.isArray(item) ? " list" : "n object") : ` ${typeof item}`}`,
        )
      : [];
    const at = kinds.findIndex((kind) => !allowed.includes(kind) || kind !== kinds[0]);
    return `must be ${wanted}${at < 0 ? "" : `, and item ${at} is ${kinds[at]}`}`;
  };

/** Texts of a request: one text, or a list. */
export const Texts = v.pipe(
  v.union([v.string(), v.array(v.string())], inputMessage("a string or a list of strings", "a string")),
  v.transform((texts): readonly string[] => (typeof texts === "string" ? [texts] : texts)),
);

const TokenId = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(0x7fffffff));

/** Token ids of one input, or of several. */
export const TokenIdLists = v.pipe(
  v.union([v.array(TokenId), v.array(v.array(TokenId))], "must be a list of token ids"),
  v.transform((ids) => (ids.every((id) => typeof id === "number") ? [ids] : (ids as number[][]))),
);

/** Inputs of a sentence encoder: one text, a list of texts, token ids, or a list of these. */
export const EmbedInputs = v.pipe(
  v.union(
    [v.string(), v.array(v.string()), v.array(TokenId), v.array(v.array(TokenId))],
    inputMessage(
      "a string, a list of strings, a list of token ids, or a list of such lists",
      "a string",
      "a number",
      "a list",
    ),
  ),
  v.transform((inputs): readonly (string | readonly number[])[] => {
    if (typeof inputs === "string") return [inputs];
    return typeof inputs[0] === "number" ? [inputs as number[]] : (inputs as string[] | number[][]);
  }),
);

export const PositiveInteger = v.pipe(v.number(), v.integer(), v.minValue(1));

/** Number of tokens to which texts are cut: at least the two special tokens around a text, and one of its own. */
export const FewTokens = v.pipe(v.number(), v.integer(), v.minValue(3, "must be at least 3"));

export const countUpTo = (most: number) => v.pipe(PositiveInteger, v.maxValue(most, `must be at most ${most}`));

const AnswerFields = v.object({
  model: v.string(),
  version: v.string(),
  tier: v.picklist(tiers),
  usage: v.object({ tokens: v.number() }),
});

/** Fields that every answer of bert-edge's own routes has. */
export type AnswerFields = v.InferOutput<typeof AnswerFields>;

/** Makes the schema of the answer of one of bert-edge's own routes. */
export const ownAnswer = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  v.object({ ...AnswerFields.entries, ...entries });

/** A label with its score. */
export const ScoredLabel = v.object({ label: v.string(), score: v.number() });

/** Makes the schema of the body of a route that runs a model. */
export const bodyOf = <const Entries extends v.ObjectEntries>(entries: Entries) =>
  objectOf({ ...entries, model: ModelField, latency_budget_ms: LatencyBudget });
