import type { Parity } from "#sdk/artifact/manifest.ts";
import { modelAgreement } from "#sdk/compile/accuracy/model-agreement.ts";
import { probeTexts } from "#sdk/compile/accuracy/probe-texts.ts";
import { readSts, scoreSts } from "#sdk/compile/accuracy/tasks/sts.ts";
import { readTokenizer } from "#sdk/compile/checkpoint/model-folder.ts";
import { readModules } from "#sdk/compile/checkpoint/sentence-transformers.ts";
import type { Graph } from "#sdk/compile/graph/graph.ts";
import { openTokenizer, type TokenizeTexts, tokenizeTexts } from "#sdk/compile/model/tokenize-texts.ts";
import { fromOnnx } from "#sdk/compile/onnx/from-onnx.ts";
import { readOnnx } from "#sdk/compile/onnx/read-onnx.ts";
import { shipTokenizer } from "#sdk/compile/pack/tokenizer/pack-tokenizer.ts";
import { encodeModel } from "#sdk/compile/proto/encode-model.ts";
import { openEncoder, vocabularyOf } from "./encoder.ts";

/** Size and accuracy of a model file, compared with the original. */
export interface Score extends Pick<Parity, "meanCosine" | "minCosine"> {
  readonly nodes: number;
  /** File size, external data included. */
  readonly bytes: number;
  /** Spearman correlation on STS-B, × 100. */
  readonly sts?: number;
}

export interface ScoreTask {
  readonly original: string;
  readonly file: string;
  /** Folder of tokenizer.json. Without a tokenizer, the files are compared on random tokens. */
  readonly tokenizer?: string;
  /** File with sentence pairs in the format of STS-B. It can only be used with a tokenizer. */
  readonly sts?: string;
}

/** Maximum tokens per text, as in `bert-edge quantize`. */
const MAX_TOKENS = 128;

/** Scores a file against the original. */
export async function score({ original, file, tokenizer, sts }: ScoreTask): Promise<Score> {
  const graph = fromOnnx(await readOnnx(original));
  const encode = tokenizer === undefined ? undefined : await encoderFrom(tokenizer, graph);
  const { meanCosine, minCosine } = await modelAgreement(original, file, encode?.(probeTexts));
  const model = await readOnnx(file);
  return {
    nodes: model.graph?.node.length ?? 0,
    bytes: [...encodeModel(model).chunks()].reduce((sum, { length }) => sum + length, 0),
    meanCosine,
    minCosine,
    ...(encode && tokenizer && sts && { sts: await stsOf(file, graph, encode, tokenizer, sts) }),
  };
}

async function encoderFrom(folder: string, graph: Graph): Promise<TokenizeTexts> {
  const vocabulary = vocabularyOf(graph) ?? Number.POSITIVE_INFINITY;
  const tokenizer = await openTokenizer(folder, shipTokenizer(await readTokenizer(folder)), vocabulary);
  return tokenizeTexts(folder, tokenizer, MAX_TOKENS, vocabulary);
}

async function stsOf(
  file: string,
  graph: Graph,
  encode: TokenizeTexts,
  tokenizer: string,
  sts: string,
): Promise<number> {
  const compute = await openEncoder(file, graph, (await readModules(tokenizer)).pooling);
  return scoreSts(await readSts(sts), (texts) => compute(encode(texts)));
}
