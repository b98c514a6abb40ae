import * as v from "valibot";
import { escaped } from "./pre-tokenizers.ts";
import { refusedPart } from "./refuse-part.ts";

const Pattern = v.union([v.strictObject({ String: v.string() }), v.strictObject({ Regex: v.string() })]);
const Step = v.variant("type", [
  v.object({ type: v.picklist(["NFC", "NFD", "NFKC", "NFKD", "StripAccents", "Lowercase"]) }),
  v.object({ type: v.literal("Strip"), strip_left: v.boolean(), strip_right: v.boolean() }),
  v.object({ type: v.literal("Replace"), pattern: Pattern, content: v.string() }),
  v.object({ type: v.literal("Prepend"), prepend: v.string() }),
]);
const Sequence = v.object({ type: v.literal("Sequence"), normalizers: v.array(v.unknown()) });

const replace = (regex: string, content: string) => ({ type: "Replace", pattern: { Regex: regex }, content });

/** Lower-cases each capital sigma to σ, as Rust does. JavaScript uses ς at the end of a word. */
const SIGMA = replace("Σ", "σ");

/**
 * Rewrites normalizers so that @huggingface/tokenizers gives the same results as the Rust tokenizers.
 *
 * @throws BertEdgeError `checkpoint_unsupported` for a normalizer that cannot be rewritten
 */
export function rewrittenNormalizers(json: unknown): object[] {
  if (json === null || json === undefined) return [];
  if (v.is(Sequence, json)) return json.normalizers.flatMap(rewrittenNormalizers);
  const parsed = v.safeParse(Step, json);
  if (!parsed.success) throw refusedPart("normalizer", String(Object(json).type));
  const step = parsed.output;
  switch (step.type) {
    case "Lowercase":
      return [SIGMA, step];
    case "Strip":
      return [
        ...(step.strip_left ? [replace(String.raw`\A\s+`, "")] : []),
        ...(step.strip_right ? [replace(String.raw`\s+\z`, "")] : []),
      ];
    case "Replace": {
      const regex = "String" in step.pattern ? escaped(step.pattern.String) : step.pattern.Regex;
      return [replace(regex, step.content.replaceAll("$", "$$$$"))];
    }
    case "Prepend":
      // The regex does not match an empty text, which stays empty.
      return [replace(String.raw`\A(?=[\s\S])`, step.prepend.replaceAll("$", "$$$$"))];
    default:
      return [step];
  }
}
