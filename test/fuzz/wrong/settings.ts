import { createEdgeApp } from "#sdk/serve/edge-app.ts";
import { parseKeys } from "#sdk/serve/keys/key-list.ts";
import { createRegionApp } from "#sdk/serve/region-app.ts";
import { aliasesFromEnv, servedNames } from "#sdk/serve/served-names.ts";
import { memoryStore } from "#sdk/storage/memory.ts";
import { fakeEngine } from "../../fixtures/tiny-model.ts";
import type { SeededChoice } from "../choose.ts";
import { misspelt } from "./spellings.ts";
import { wrongCase } from "./wrong-case.ts";
import type { WrongInput } from "./wrong-input.ts";

/** The models of a deployment. */
const MODELS = ["bge-small", "all-minilm-l6-v2"] as const;

/** Makes an app, which checks its options. */
function makeApp(options: object): void {
  const common = { models: memoryStore(), model: MODELS, keys: ["k"], log: false, engine: fakeEngine(), ...options };
  createEdgeApp(common as never);
  createRegionApp(common as never);
}

const LEAVE_OUT = /leave it out/i;

/** Words for where texts are cut that other servers have, and what people write for true and false. */
const WORDS = [
  "true",
  "False",
  "LEFT",
  "Right",
  "START",
  "END",
  "NONE",
  "start",
  "both",
  "longest_first",
  "right ",
  "auto",
  "no",
  "",
];

const truncateValue = (choice: SeededChoice): unknown =>
  choice.of<unknown>([
    ...WORDS,
    0,
    1,
    -1,
    512,
    Number.NaN,
    [],
    ["left"],
    {},
    { side: "left" },
    { truncate: true },
    null,
    new Date(0),
  ]);

/** A wrong value or a wrong name for `truncate`, in the options of a deployment, of a key, or in the list of keys of a variable. */
export function wrongTruncateSetting(choice: SeededChoice): WrongInput {
  const key = "a-key-that-is-long";
  const value = truncateValue(choice);
  const name = misspelt("truncate", choice);
  const [entry, fixed]: readonly [Record<string, unknown>, Record<string, unknown>] = choice.of([
    [{ truncate: value }, {}] as const,
    [{ [name]: true }, { truncate: true }] as const,
    [{ [choice.of(["truncation", "truncate_side", "truncation_side", "truncationSide", "cut"])]: "left" }, {}] as const,
  ]);
  const isName = !("truncate" in entry);
  const shown = Object.entries(entry)
    .map(([field, given]) => `${JSON.stringify(field)}: ${String(JSON.stringify(given))}`)
    .join();
  const asKey = (fields: object) => ({ keys: [{ key, ...fields }] });
  const asList = (fields: object) => JSON.stringify([{ name: "web", key, ...fields }]);
  const places: readonly (readonly [string, (fields: object) => void])[] = [
    ["createEdgeApp({ defaults: {", (fields) => makeApp({ defaults: fields })],
    ["createEdgeApp({ keys: [{ key, ", (fields) => makeApp(asKey(fields))],
    ["API_KEYS=[{", (fields) => makeApp({ keys: parseKeys(asList(fields)) })],
  ];
  const [place, give] = choice.of(places);
  return wrongCase({
    shown: `${place}${shown}`,
    names: isName ? [...Object.keys(entry)] : ["truncate"],
    // JSON has no NaN and no dates, and null is an absent field.
    mayBeTaken: value === null,
    give: () => give(entry),
    fixes: [
      [LEAVE_OUT, () => give(isName ? {} : fixed)],
      [/Did you mean truncate/, () => give(fixed)],
    ],
  });
}

/** Wrong texts of MODEL_ALIASES, each with what it must name. */
const TEXTS: readonly (readonly [text: string, name: string])[] = [
  ["text-embedding-3-small", "text-embedding-3-small"],
  ["text-embedding-3-small:bge-small", "text-embedding-3-small"],
  ["text-embedding-3-small=>bge-small", "text-embedding-3-small"],
  ["text-embedding-3-small=", "text-embedding-3-small"],
  ["=bge-small", "MODEL_ALIASES"],
  ["ada=bge-smal", "bge-smal"],
  ["ada=bge-small;bert=all-minilm-l6-v2", "ada"],
  ["ada=bge-small bert=all-minilm-l6-v2", "ada"],
  ["ada=bge-small=bert", "ada"],
  ['{"ada": "bge-small"}', "ada"],
  ['"ada"="bge-small"', "ada"],
  ["ada=BGE-small", "BGE-small"],
  ["ada=BAAI/bge-small", "BAAI/bge-small"],
  ["my model=bge-small", "my model"],
  ["ada@1=bge-small", "ada@1"],
  ["bge-small=ada", "bge-small"],
  ["BGE-small=all-minilm-l6-v2", "BGE-small"],
  ["ada=bge-small\nbert=all-minilm-l6-v2", "ada"],
  ["ada=bge-small,ada=all-minilm-l6-v2", "ada"],
];

/** Wrong values of the option `aliases`. */
const VALUES: readonly (readonly [value: unknown, name: string])[] = [
  ["ada=bge-small", "aliases"],
  [["ada", "bge-small"], "aliases"],
  [[["ada", "bge-small"]], "aliases"],
  [[{ name: "ada", model: "bge-small" }], "aliases"],
  [new Map([["ada", "bge-small"]]), "aliases"],
  [{ ada: ["bge-small"] }, "ada"],
  [{ ada: { model: "bge-small" } }, "ada"],
  [{ ada: null }, "ada"],
  [{ ada: undefined }, "ada"],
  [{ ada: 7 }, "ada"],
  [{ ada: "" }, "ada"],
  [{ "": "bge-small" }, "aliases"],
  [{ "bge-small": "ada" }, "bge-small"],
  [{ "ada ": "bge-small" }, "ada"],
  [true, "aliases"],
  [7, "aliases"],
];

/** Wrong values of the option `model`, and texts of the variable MODEL. */
const NAMES: readonly (readonly [value: unknown, name: string])[] = [
  ["", "model"],
  [[], "model"],
  [["bge-small", ""], "model"],
  [undefined, "model"],
  [null, "model"],
  [7, "model"],
  [{ name: "bge-small" }, "model"],
  [["bge-small", 7], "model"],
  ["bge-small,all-minilm-l6-v2", "bge-small,all-minilm-l6-v2"],
  ["BAAI/bge-small", "BAAI/bge-small"],
  ["BGE-Small", "BGE-Small"],
  ["bge-small@0123456789ab", "bge-small@0123456789ab"],
  ["bge small", "bge small"],
  ["../bge-small", "../bge-small"],
  [`b${"g".repeat(80)}`, "model"],
];

/** A wrong value of `aliases`, MODEL_ALIASES or `model`. */
export function wrongNameSetting(choice: SeededChoice): WrongInput {
  const aliased = (aliases: unknown) => makeApp({ aliases });
  switch (choice.below(3)) {
    case 0: {
      const [text, name] = choice.of(TEXTS);
      const give = (MODEL_ALIASES: string) => servedNames(MODELS, aliasesFromEnv({ MODEL_ALIASES }));
      const fixes = [
        [LEAVE_OUT, () => give("")],
        [/MODEL_ALIASES=ada=bge-small/, () => give("ada=bge-small")],
        [/one of bge-small/, () => give("ada=bge-small")],
      ] as const;
      return wrongCase({
        shown: `MODEL_ALIASES=${JSON.stringify(text)}`,
        names: [name],
        give: () => give(text),
        fixes,
      });
    }
    case 1: {
      const [value, name] = choice.of(VALUES);
      const fixes = [
        [LEAVE_OUT, () => aliased(undefined)],
        [/one of bge-small|Write \{ "ada": "bge-small" \}/, () => aliased({ ada: "bge-small" })],
      ] as const;
      const shown = `createEdgeApp({ aliases: ${value instanceof Map ? "new Map" : ""}${String(JSON.stringify(value instanceof Map ? [...value] : value))} })`;
      return wrongCase({ shown, names: [name], give: () => aliased(value), fixes });
    }
    default: {
      const [value, name] = choice.of(NAMES);
      const fixes = [[/Name published models/, () => makeApp({ model: "bge-small" })]] as const;
      return wrongCase({
        shown: `createEdgeApp({ model: ${JSON.stringify(value)} })`,
        names: [name],
        give: () => makeApp({ model: value }),
        fixes,
      });
    }
  }
}
