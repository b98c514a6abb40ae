import { BertEdgeError } from "../../artifact/error.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import type { TextModel } from "../model/text-model.ts";

/**
 * Checks that the model runs on a text of `maxTokens` tokens. No other check notices that a model has fewer positions.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function assertLongest(
  { maxTokens, encode }: Pick<TextModel, "maxTokens" | "encode">,
  session: Pick<EngineSession, "run">,
): Promise<void> {
  const [ids = new Int32Array(1)] = encode(["a"]);
  // Repeats the token of "a". Padding tokens would not test all positions, because models like RoBERTa give all padding
  // tokens the same position.
  const longest = new Int32Array(maxTokens).fill(ids[ids.length >> 1] as number);
  try {
    await session.run([longest]);
  } catch (cause) {
    throw new BertEdgeError(
      "checkpoint_invalid",
      `The model cannot run on ${maxTokens} tokens, the maximum that its folder declares.`,
      {
        hint: "Check that max_position_embeddings, pad_token_id and model_type in config.json match the weights.",
        cause,
      },
    );
  }
}
