import { describe, expect, it } from "vitest";
import { decodedFloats, pipelineCases, relativeDifference, SCORE_ROUNDING } from "#test/fixtures/pipeline-cases.ts";
import type { Manifest } from "../../artifact/manifest.ts";
import { packTokenizer } from "../../compile/pack/tokenizer/pack-tokenizer.ts";
import { createJsonTokenizer } from "../tokenizer/json-tokenizer.ts";
import { createPackedTokenizer } from "../tokenizer/packed/packed-tokenizer.ts";
import { fillMaskCall } from "./fill-mask.ts";

/** If the predicted token is padding, transformers leaves it out of the sequence. */
const withoutPadding = (sequence: string) => sequence.replaceAll("<pad>", "");

describe.each(pipelineCases.fill_mask)("fillMaskCall with the model of $family", (made) => {
  const { vocabulary, mask, texts } = made;
  const manifest = { task: "fill-mask", name: "tiny", maxTokens: 20, vocabulary, mask } as Manifest;
  const packed = packTokenizer(made.tokenizer);
  const tokenizer = packed ? createPackedTokenizer(packed, vocabulary) : createJsonTokenizer(made.tokenizer, {});

  it.each(texts)("answers as transformers' pipeline does for $text", ({ text, logits, answers }) => {
    for (const { top_k, targets, results } of answers) {
      const spelled = targets?.map((id) => tokenizer.vocabulary.spellingOf(id) as string);
      const call = fillMaskCall([text], { topK: top_k ?? undefined, targets: spelled }).on(manifest);
      const found =
        call
          .encoder?.(tokenizer)(text, 0)
          .read?.([decodedFloats(logits)]) ?? [];
      const described = found.map((row) =>
        row.map(({ tokenId, token, sequence }) => [tokenId, token, withoutPadding(sequence)]),
      );
      expect(described).toEqual(results.map((row) => row.map(([id, , token, sequence]) => [id, token, sequence])));
      const scores = found.flat().map(({ score }) => score);
      const expected = results.flat().map(([, score]) => score);
      expect(relativeDifference(scores, expected)).toBeLessThan(SCORE_ROUNDING);
    }
  });

  it("takes the first token of a target that is no token, and refuses one without tokens", () => {
    const text = `a ${mask.token}`;
    const filled = (targets: string[]) => {
      const call = fillMaskCall([text], { targets }).on(manifest);
      const found = call
        .encoder?.(tokenizer)(text, 0)
        .read?.([new Float32Array(vocabulary)]);
      return found?.[0]?.map(({ tokenId }) => tokenId);
    };
    const [, first] = tokenizer.encode("workshop", 20).ids;
    expect(filled(["workshop"])).toEqual([first]);
    expect(() => filled([""])).toThrow(expect.objectContaining({ code: "request_invalid" }));
  });

  it("refuses texts without a mask token, also if it is cut off", () => {
    const encode = (text: string, truncate: boolean) =>
      fillMaskCall([text], { truncate }).on(manifest).encoder?.(tokenizer)(text, 0);
    const missing = expect.objectContaining({
      ...{ code: "request_invalid", index: 0 },
      hint: expect.stringContaining(mask.token),
    });
    expect(() => encode("Anna works", false)).toThrow(missing);
    const long = `${"a ".repeat(30)}${mask.token}`;
    expect(() => encode(long, true)).toThrow(missing);
    expect(() => encode(long, false)).toThrow(expect.objectContaining({ code: "input_too_long" }));
  });
});
