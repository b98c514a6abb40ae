import { BertEdgeError } from "../../artifact/error.ts";
import type { Side } from "../truncation.ts";
import { pairsWith } from "./pairs-with.ts";
import { cut, joined, placedTokens, tokensToRead } from "./sequences.ts";
import { textReader } from "./text-reader.ts";
import type { TextWindow, Tokenizer } from "./tokenizer.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/** Creates a tokenizer from its parts. It puts special tokens around the tokens of texts. */
export function tokenizerOf({
  prefix,
  suffix,
  pair,
  unknownId,
  vocabulary,
  side: ownSide = "right",
  ...reading
}: TokenizerParts): Tokenizer {
  const reader = textReader(reading);
  const specials = prefix.length + suffix.length;

  const pairsOf = (first: string, maxTokens: number, side: Side = ownSide) => {
    if (!pair) throw pairsUnsupported();
    return pairsWith(first, { pair, reader, maxTokens, side });
  };

  return {
    vocabulary,
    around: { before: prefix.length, after: suffix.length },
    unknownId,
    side: ownSide,
    encode(text, maxTokens, side = ownSide) {
      const content = reader.idsOf(text, tokensToRead(maxTokens - specials, side));
      const ids = joined([prefix, cut(content, maxTokens - specials, side), suffix]);
      return { ids, tokens: content.length + specials };
    },
    encodePlaced(text, maxTokens, side = ownSide) {
      const room = maxTokens - specials;
      const content = reader.placedOf(text, tokensToRead(room, side));
      const start = side === "left" ? Math.max(0, content.ids.length - room) : 0;
      const placed = placedTokens(prefix, content, { start, end: start + room }, suffix);
      return { ...placed, tokens: content.ids.length + specials };
    },
    encodeChunks(text, maxTokens) {
      const room = maxTokens - specials;
      const content = reader.idsOf(text, Number.POSITIVE_INFINITY);
      const starts = Array.from({ length: Math.max(1, Math.ceil(content.length / room)) }, (_, i) => i * room);
      return starts.map((start) => joined([prefix, content.slice(start, start + room), suffix]));
    },
    encodeWindows(question, context, { maxTokens, maxQuestionTokens, stride, maxWindows = Number.POSITIVE_INFINITY }) {
      if (!pair) throw pairsUnsupported();
      const before = [...pair.prefix, ...reader.idsOf(question, maxQuestionTokens).slice(0, maxQuestionTokens)];
      const first = [...before, ...pair.separator];
      const room = maxTokens - first.length - pair.suffix.length;
      if (room <= stride) throw questionTooLong(room, stride);
      const content = reader.placedOf(context, Number.POSITIVE_INFINITY);
      const count = Math.max(1, Math.ceil((content.ids.length - stride) / (room - stride)));
      if (count > maxWindows) throw tooManyWindows(count, maxWindows);
      const windows: TextWindow[] = [];
      for (let done = 0; done === 0 || done + stride < content.ids.length; done += room - stride) {
        const left = content.ids.length - done;
        const part =
          ownSide === "left" ? { start: Math.max(0, left - room), end: left } : { start: done, end: done + room };
        const placed = placedTokens(first, content, part, pair.suffix);
        const secondFrom = pair.secondFrom === undefined ? placed.ids.length : before.length + pair.secondFrom;
        windows.push({ ...placed, secondFrom });
      }
      return windows;
    },
    encodePair: (first, second, maxTokens, side) => pairsOf(first, maxTokens, side)(second),
    pairsWith: pairsOf,
  };
}

const pairsUnsupported = () =>
  new BertEdgeError(
    "pairs_unsupported",
    "The tokenizer cannot encode two texts: it has no template for pairs, or none with token types 0 for the first text and 0 or 1 for the second.",
    {
      hint: "Use a model whose tokenizer.json has such a template. If it has one, prepare the artifact again with this version of bert-edge.",
    },
  );

const tooManyWindows = (count: number, most: number) =>
  new BertEdgeError("too_many_inputs", `The context is read in ${count} parts, but at most ${most} are allowed.`, {
    hint: "Shorten the context, or lower `doc_stride`.",
  });

const questionTooLong = (room: number, stride: number) =>
  new BertEdgeError(
    "input_too_long",
    `The question leaves room for ${Math.max(0, room)} tokens of the context in a sequence, but must leave more than the overlap of ${stride} tokens.`,
    { hint: ["shorten the question", { remove: "doc_stride" }] },
  );
