import { parseJson } from "../../sdk/src/artifact/parse-json.ts";
import { EncoderConfig } from "../../sdk/src/build/checkpoint/encoder-config.ts";

/** What a config.json with these keys says. */
export const parsedConfig = (keys: object): EncoderConfig =>
  parseJson(EncoderConfig, JSON.stringify(keys), { code: "test", what: "configuration of a test", hint: "" });
