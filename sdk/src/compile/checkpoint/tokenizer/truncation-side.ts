import * as v from "valibot";
import { BertEdgeError } from "../../../artifact/error.ts";
import type { Side } from "../../../runtime/truncation.ts";

const Settings = v.object({ truncation_side: v.picklist(["left", "right"]) });
const Json = v.object({ truncation: v.object({ direction: v.picklist(["Left", "Right"]) }) });

/**
 * Returns the end at which a folder's tokenizer cuts texts: `truncation_side` of tokenizer_config.json, else the direction in
 * tokenizer.json, else the right.
 *
 * @throws BertEdgeError `checkpoint_invalid` for another `truncation_side`, with which transformers does not load the tokenizer
 */
export function truncationSide(json: object, settings: object): Side {
  if (v.is(Settings, settings)) return v.parse(Settings, settings).truncation_side;
  if ("truncation_side" in settings) {
    const side = JSON.stringify(settings.truncation_side);
    throw new BertEdgeError("checkpoint_invalid", `tokenizer_config.json has the truncation_side ${side}.`, {
      hint: 'Set it to "left" or "right", the end at which long texts are cut, or remove the key: texts are then cut at the right.',
    });
  }
  return v.is(Json, json) && v.parse(Json, json).truncation.direction === "Left" ? "left" : "right";
}
