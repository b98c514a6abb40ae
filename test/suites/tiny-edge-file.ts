import { encoderWeights } from "../../sdk/src/build/checkpoint/encoder-weights.ts";
import { edgeFile } from "./edge-file.ts";
import { fusedGraph } from "./fused-graph.ts";
import { randomNumbers } from "./seeded.ts";
import { tinyBert } from "./tiny-bert.ts";
import { tinyModernBert } from "./tiny-modernbert.ts";
import { tinyNomic } from "./tiny-nomic.ts";

const nomic = tinyNomic().current;

/** Encoders of random weights, between them with most of the engine's steps. */
export const tinyEncoders = {
  bert: () => tinyBert(),
  modernbert: () => tinyModernBert(),
  nomic: () => ({ ...nomic, weights: encoderWeights(nomic) }),
};
export type TinyEncoder = keyof typeof tinyEncoders;

/** What all of them take. */
export const TINY_EDGE = { maxTokens: 16, vocabulary: 50 } as const;

/** One of them as the WebAssembly engine's file. */
export async function tinyEdgeFile(name: TinyEncoder): Promise<Uint8Array<ArrayBuffer>> {
  const { config, weights } = tinyEncoders[name]();
  return edgeFile(await fusedGraph(config, weights), TINY_EDGE);
}

/** A sequence of every length that a model takes. */
export function randomSequences({
  maxTokens,
  vocabulary,
}: {
  maxTokens: number;
  vocabulary: number;
}): Int32Array<ArrayBuffer>[] {
  const random = randomNumbers(1);
  return Array.from({ length: maxTokens }, (_, i) =>
    Int32Array.from({ length: i + 1 }, () => Math.floor(vocabulary * random())),
  );
}
