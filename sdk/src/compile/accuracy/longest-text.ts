import { BertEdgeError } from "../../artifact/error.ts";
import type { EngineSession } from "../../runtime/engine/engine.ts";
import type { TextModel } from "../model/text-model.ts";

/**
 * Runs a text of as many tokens as the model is said to take: more than its positions would be seen by no other check.
 *
 * @throws BertEdgeError `checkpoint_invalid`
 */
export async function assertLongest(
  { maxTokens, encode }: Pick<TextModel, "maxTokens" | "encode">,
  session: Pick<EngineSession, "run">,
): Promise<void> {
  const [ids = new Int32Array(1)] = encode(["a"]);
  // Not a token before or after the text: padding has no position of its own.
  const longest = new Int32Array(maxTokens).fill(ids[ids.length >> 1] as number);
  try {
    await session.run([longest]);
  } catch (cause) {
    throw new BertEdgeError("checkpoint_invalid", `The model does not take ${maxTokens} tokens, as its folder says.`, {
      hint: "Check max_position_embeddings, pad_token_id and model_type in config.json: they must be those of the weights.",
      cause,
    });
  }
}
