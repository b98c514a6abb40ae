import type { Target } from "./target.ts";
import { config } from "./targets/config.ts";
import { hub } from "./targets/hub.ts";
import { keys } from "./targets/keys.ts";
import { manifest } from "./targets/manifest.ts";
import { onnx } from "./targets/onnx.ts";
import { packedTokenizer } from "./targets/packed-tokenizer.ts";
import { pages } from "./targets/pages.ts";
import { pickledWeights } from "./targets/pickled-weights.ts";
import { pointer } from "./targets/pointer.ts";
import { program } from "./targets/program.ts";
import { requests } from "./targets/requests.ts";
import { safetensors } from "./targets/safetensors.ts";
import { storage } from "./targets/storage.ts";
import { tokenizerJson } from "./targets/tokenizer-json.ts";

/** All targets, by the name that `--only` takes. */
export const targets: Readonly<Record<string, Target>> = {
  program,
  onnx,
  safetensors,
  "pickled-weights": pickledWeights,
  "packed-tokenizer": packedTokenizer,
  "tokenizer-json": tokenizerJson,
  manifest,
  pointer,
  config,
  hub,
  keys,
  requests,
  storage,
  pages,
};
