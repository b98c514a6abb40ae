import { ANSWER_MODEL, type SoakModels } from "./models.ts";
import { answerShot, type Change, embedShot, rerankShot, type Shot, tagShot } from "./shot.ts";
import { LONG_TEXTS, longText, RARE_TEXTS, rareText, textOf } from "./texts.ts";

const LONG_BYTES = 1_900_000;
/** Bytes of a long text whose chunks or windows are all computed. */
const PARTS_BYTES = 60_000;
/** Bytes of a text that other models than the small ones embed in chunks: the default model computes a token 50 times as long. */
const MAIN_PARTS_BYTES = 6_000;
const QUERY = "whether to suffer";

/** Refusals of texts of which too many characters must be read. */
const tooLong = { statuses: [200, 400], refusals: ["input_too_long"] } as const;

/** Long texts in every way in which they can be read, by every model. Made when they are sent. */
const heavyShots = ({ main, small, hasTasks }: SoakModels): (() => Shot)[] =>
  Array.from({ length: LONG_TEXTS }, (_, which) => which).flatMap((which) => [
    ...main.flatMap((model) => embedded(model, which, MAIN_PARTS_BYTES)),
    ...small.flatMap((model) => embedded(model, which, PARTS_BYTES)),
    ...(hasTasks ? ofTasks(which) : []),
  ]);

const embedded = (model: string, which: number, partsBytes: number): readonly (() => Shot)[] => [
  () => embedShot(model, "2 MB", [longText(which, LONG_BYTES)]),
  () => embedShot(model, "2 MB, left", [longText(which, LONG_BYTES)], { truncate: "left", ...tooLong }),
  // A word of WordPiece that is too long is one token.
  () => embedShot(model, "2 MB, not cut", [longText(which, LONG_BYTES)], { truncate: false, ...tooLong }),
  () => embedShot(model, "long, in chunks", [longText(which, partsBytes)], { poolChunks: true }),
];

const ofTasks = (which: number): readonly (() => Shot)[] => [
  () => rerankShot("2 MB, pairs", QUERY, [longText(which, LONG_BYTES), QUERY], tooLong),
  () => rerankShot("2 MB, pairs, left", QUERY, [longText(which, LONG_BYTES), QUERY], { truncate: "left", ...tooLong }),
  () => tagShot("2 MB, tagged", longText(which, LONG_BYTES), tooLong),
  () => tagShot("2 MB, tagged, left", longText(which, LONG_BYTES), { truncate: "left", ...tooLong }),
  () => tagShot("long, tagged, left", longText(which, 4 * PARTS_BYTES), { truncate: "left" }),
  () => answerShot("2 MB, answers", QUERY, longText(which, LONG_BYTES), tooLong),
  () => answerShot("long, answers", QUERY, longText(which, PARTS_BYTES)),
];

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)] as T;

/** The requests of a run. */
export interface Mix {
  draw(random: () => number): Shot;
  heavySent(): number;
  /** Number of requests after which every long text was sent in every way. */
  readonly heavyWays: number;
}

/** Draws the requests of the mix. All clients share the turns, so that no way of reading a long text is left out. */
export function mixOf(models: SoakModels): Mix {
  const { main, small, hasTasks } = models;
  const heavy = heavyShots(models);
  const wrong = wrongShots(models);
  let turn = 0;
  function draw(random: () => number): Shot {
    const which = Math.floor(random() * 5);
    const at = random();
    const embed = (kind: string, texts: readonly string[], change?: Change) =>
      embedShot(pick(main, random), kind, texts, change);
    if (at < 0.32) return embed("short", [textOf(1 + which * 2, which)]);
    if (at < 0.4) return embed("long", [textOf(200, which)]);
    if (at < 0.44) return embed("long, left", [textOf(200, which)], { truncate: "left" });
    if (at < 0.5)
      return embed(
        "eight texts",
        Array.from({ length: 8 }, (_, i) => textOf(20, i)),
      );
    if (at < 0.6) return embed("with a budget", [textOf(150, which)], { headers: { "x-latency-budget-ms": "25" } });
    if (at < 0.66)
      return embed("pinned to the region", [textOf(10, which)], { headers: { "x-bert-edge-tier": "region" } });
    if (at < 0.72) return embedShot(pick(small.length > 0 ? small : main, random), "short", [textOf(10, which)]);
    if (at < 0.84) {
      if (!hasTasks) return embed("rare words", [rareText(Math.floor(random() * RARE_TEXTS))]);
      if (at < 0.76) return rerankShot("pairs", QUERY, [textOf(10, which), textOf(60, which), QUERY]);
      return at < 0.8 ? tagShot("tagged", textOf(20, which)) : answerShot("answers", QUERY, textOf(200, which));
    }
    if (at < 0.92) return pick(wrong, random);
    return (heavy[turn++ % heavy.length] as () => Shot)();
  }
  return { draw, heavySent: () => turn, heavyWays: heavy.length };
}

function wrongShots({ main: [model], hasTasks }: SoakModels): readonly Shot[] {
  const refused = (kind: string, change: Change, texts: readonly string[] = ["a"]): Shot => ({
    ...embedShot(model, kind, texts, change),
    expected: undefined,
  });
  return [
    refused("wrong key", { headers: { authorization: "Bearer wrong" }, statuses: [401], refusals: ["key_wrong"] }),
    refused("wrong JSON", { body: "{", statuses: [400], refusals: ["request_invalid"] }),
    refused("unknown model", { model: "nobody", statuses: [404], refusals: ["model_unknown"] }),
    refused("no texts", { statuses: [400], refusals: ["input_empty"] }, []),
    ...(hasTasks
      ? [refused("another task", { model: ANSWER_MODEL, statuses: [400], refusals: ["task_unsupported"] })]
      : []),
  ];
}
