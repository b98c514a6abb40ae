import { ANSWER_MODEL, EMBED_MODELS } from "./models.ts";
import { answerShot, embedShot, rerankShot, type Shot, tagShot } from "./shot.ts";
import { LONG_TEXTS, longText, textOf } from "./texts.ts";

const LONG_BYTES = 1_900_000;
/** Bytes of a long text whose chunks or windows are all computed. */
const PARTS_BYTES = 60_000;
/** Bytes of a text that the default model embeds in chunks: it computes a token 50 times as long as the small ones. */
const MINI_PARTS_BYTES = 6_000;
const QUERY = "whether to suffer";

/** Refusals of texts of which too many characters must be read. */
const tooLong = { statuses: [200, 400], refusals: ["input_too_long"] } as const;

/** Long texts in every way in which they can be read, for every kind of tokenizer. Made when they are sent. */
const heavy: readonly (() => Shot)[] = Array.from({ length: LONG_TEXTS }, (_, which) => which).flatMap((which) => [
  ...EMBED_MODELS.flatMap((model) => [
    () => embedShot("2 MB", [longText(which, LONG_BYTES)], { model }),
    () => embedShot("2 MB, left", [longText(which, LONG_BYTES)], { model, truncate: "left", ...tooLong }),
    // A word of WordPiece that is too long is one token.
    () => embedShot("2 MB, not cut", [longText(which, LONG_BYTES)], { model, truncate: false, ...tooLong }),
    () => {
      const bytes = model === EMBED_MODELS[0] ? MINI_PARTS_BYTES : PARTS_BYTES;
      return embedShot("long, in chunks", [longText(which, bytes)], { model, poolChunks: true });
    },
  ]),
  () => rerankShot("2 MB, pairs", QUERY, [longText(which, LONG_BYTES), QUERY], tooLong),
  () => rerankShot("2 MB, pairs, left", QUERY, [longText(which, LONG_BYTES), QUERY], { truncate: "left", ...tooLong }),
  () => tagShot("2 MB, tagged", longText(which, LONG_BYTES), tooLong),
  () => tagShot("2 MB, tagged, left", longText(which, LONG_BYTES), { truncate: "left", ...tooLong }),
  () => tagShot("long, tagged, left", longText(which, 4 * PARTS_BYTES), { truncate: "left" }),
  () => answerShot("2 MB, answers", QUERY, longText(which, LONG_BYTES), tooLong),
  () => answerShot("long, answers", QUERY, longText(which, PARTS_BYTES)),
]);

/** Number of requests after which every long text was sent in every way. */
export const HEAVY_SHOTS = heavy.length;

const pick = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)] as T;

/** Draws the requests of the mix. All clients share the turns, so that no way of reading a long text is left out. */
export function drawShots(): { draw(random: () => number): Shot; heavySent(): number } {
  let turn = 0;
  function draw(random: () => number): Shot {
    const which = Math.floor(random() * 5);
    const at = random();
    if (at < 0.32) return embedShot("short", [textOf(1 + which * 2, which)]);
    if (at < 0.4) return embedShot("long", [textOf(200, which)]);
    if (at < 0.44) return embedShot("long, left", [textOf(200, which)], { truncate: "left" });
    if (at < 0.5)
      return embedShot(
        "eight texts",
        Array.from({ length: 8 }, (_, i) => textOf(20, i)),
      );
    if (at < 0.6) return embedShot("with a budget", [textOf(150, which)], { headers: { "x-latency-budget-ms": "25" } });
    if (at < 0.66)
      return embedShot("pinned to the region", [textOf(10, which)], { headers: { "x-bert-edge-tier": "region" } });
    if (at < 0.72) return embedShot("short", [textOf(10, which)], { model: pick(EMBED_MODELS.slice(1), random) });
    if (at < 0.76) return rerankShot("pairs", QUERY, [textOf(10, which), textOf(60, which), QUERY]);
    if (at < 0.8) return tagShot("tagged", textOf(20, which));
    if (at < 0.84) return answerShot("answers", QUERY, textOf(200, which));
    if (at < 0.92) return pick(wrong, random);
    return (heavy[turn++ % heavy.length] as () => Shot)();
  }
  return { draw, heavySent: () => turn };
}

const refused = (kind: string, change: Parameters<typeof embedShot>[2], texts: readonly string[] = ["a"]): Shot => ({
  ...embedShot(kind, texts, change),
  expected: undefined,
});

const wrong: readonly Shot[] = [
  refused("wrong key", { headers: { authorization: "Bearer wrong" }, statuses: [401], refusals: ["key_wrong"] }),
  refused("wrong JSON", { body: "{", statuses: [400], refusals: ["request_invalid"] }),
  refused("unknown model", { model: "nobody", statuses: [404], refusals: ["model_unknown"] }),
  refused("no texts", { statuses: [400], refusals: ["input_empty"] }, []),
  refused("another task", { model: ANSWER_MODEL, statuses: [400], refusals: ["task_unsupported"] }),
];
