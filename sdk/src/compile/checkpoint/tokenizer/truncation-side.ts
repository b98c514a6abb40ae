import * as v from "valibot";
import type { Side } from "../../../runtime/truncation.ts";

const Settings = v.object({ truncation_side: v.picklist(["left", "right"]) });
const Json = v.object({ truncation: v.object({ direction: v.picklist(["Left", "Right"]) }) });

/**
 * Returns the end at which a folder's tokenizer cuts texts: `truncation_side` of tokenizer_config.json, else the direction in
 * tokenizer.json, else the right.
 */
export function truncationSide(json: object, settings: object): Side {
  if (v.is(Settings, settings)) return v.parse(Settings, settings).truncation_side;
  return v.is(Json, json) && v.parse(Json, json).truncation.direction === "Left" ? "left" : "right";
}
