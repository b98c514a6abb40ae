import * as v from "valibot";
import type { TokenizerSettings } from "../../../runtime/tokenizer/packed/packed-settings.ts";
import { TokenName, tokenIds } from "../../checkpoint/tokenizer/token-names.ts";

const Config = v.object({ unk_token: TokenName });

/**
 * Returns the token that tokenizer_config.json names as unknown, if it is not the one of the model.
 *
 * @param own id of the token that the model takes for unknown words or characters
 */
export function namedUnknown(json: object, config: object, own?: number): Pick<TokenizerSettings, "namedUnknown"> {
  if (!v.is(Config, config)) return {};
  const id = tokenIds(json).get(v.parse(Config, config).unk_token);
  return id === undefined || id === own ? {} : { namedUnknown: id };
}
