import { MAX_HEAD_SIZE } from "../constants/tiles.ts";
import { tensorAt } from "../run/block.ts";
import type { View } from "../run/values.ts";
import { type ColumnView, fieldsOf, finiteNumber, type OperandReader, ProgramFault, sizeOf } from "./operand-reader.ts";
import type { Operation } from "./operation.ts";
import { type PositionTerms, positionBiases, positionScratch, positionTermsOf, usedBuckets } from "./position-terms.ts";

/**
 * Runs attention. Queries, keys and values are columns of one ProgramValue, or of several ProgramValues with the same width.
 *
 * `bias` is f32 [heads or 1, 2 · maxTokens − 1]. Entry j − i + maxTokens − 1 is added to the score of key j for query i.
 * A step has `bias`, `positions` or neither.
 */
export interface AttentionStep {
  readonly op: "attention";
  readonly query: View;
  readonly key: View;
  readonly value: View;
  readonly heads: number;
  readonly size: number;
  readonly scale: number;
  readonly bias?: { readonly table: string; readonly heads: number };
  readonly positions?: PositionTerms;
  readonly out: number;
}

export const attention: Operation<AttentionStep> = (step, read, { maxTokens }) => {
  read.rows("token");
  const size = sizeOf(step.size, "its head size", 4);
  if (size > MAX_HEAD_SIZE) throw new ProgramFault(`heads have ${size} numbers, and at most ${MAX_HEAD_SIZE} fit`);
  const heads = sizeOf(step.heads, "heads");
  const [query, key, value] = (["query", "key", "value"] as const).map((part) =>
    read.columns(step[part], part, heads * size),
  ) as [ColumnView, ColumnView, ColumnView];
  const strides = [query, key, value].map((view) => read.widthOf(view.value, "a value"));
  if (new Set(strides).size > 1) throw new ProgramFault("query, key and value lie in rows of different widths");
  const scale = finiteNumber(step.scale, "scale");
  // The kernel finds the maximum score of a row before it multiplies the scores by the scale. A negative scale would
  // turn the maximum into the minimum.
  if (!(scale > 0)) throw new ProgramFault("its scale is not positive");
  if (step.bias !== undefined && step.positions !== undefined)
    throw new ProgramFault("it has both a bias and positions");
  const bias = step.bias === undefined ? undefined : biasOf(step.bias, read, maxTokens);
  const positions =
    step.positions === undefined ? undefined : positionTermsOf(step.positions, read, { heads, size, maxTokens });
  const out = read.out(step.out, "out", heads * size);
  const middle = 4 * (maxTokens - 1);

  return {
    scratchBytes(kernels, tokens) {
      const own = kernels.attentionScratch(tokens, size);
      return positions ? positionScratch(own, Math.min(tokens, maxTokens), size, positions.buckets).end : own;
    },
    run(block) {
      const { kernels, memory, batch } = block;
      const { scratch } = batch.regions;
      const stride = block.stride(query);
      block.eachSequence((offset, tokens, _, sequence) => {
        const seen = batch.attended[sequence] as number;
        const bucketOf = positions ? tensorAt(positions.bucketOf) + middle : 0;
        const used = positions && usedBuckets(memory, bucketOf, tokens, positions.buckets);
        for (let head = 0; head < heads; head++) {
          const column = 4 * head * size;
          const [queries, keys] = [block.at(query, offset) + column, block.at(key, offset) + column];
          const { bias: biases, biasStep } = bias
            ? { bias: bias.table + bias.row * (head % bias.heads) + middle, biasStep: -4 }
            : positions && used
              ? positionBiases(kernels, {
                  ...{ positions, query: queries, key: keys, stride, tokens, size, head, bucketOf, used, scratch },
                })
              : { bias: 0, biasStep: 0 };
          for (const first of queryBlocks(tokens, seen)) {
            kernels.attentionInt8({
              query: block.at(query, offset + first) + column,
              key: keys,
              value: block.at(value, offset) + column,
              stride,
              tokens: seen,
              size,
              scale,
              bias: biases && biases + first * biasStep,
              biasStep,
              out: block.at(out, offset + first) + column,
              outStride: block.stride(out),
              scratch,
            });
          }
        }
      });
    },
  };
};

/** Checks a table of biases. @returns its address (`table`), its number of heads, and the bytes per head (`row`) */
function biasOf(bias: unknown, read: OperandReader, maxTokens: number) {
  const fields = fieldsOf(bias, "bias");
  const heads = sizeOf(fields["heads"], "bias.heads");
  const distances = 2 * maxTokens - 1;
  const table = tensorAt(read.floats(fields["table"], "bias.table", heads * distances, true));
  return { table, heads, row: 4 * distances };
}

/**
 * Returns the index of the first query of each call of the attention kernel. Each call computes as many queries as there are keys.
 * If `tokens` is not a multiple of `keys`, the last call computes some queries of the previous call again.
 *
 * @param keys number of tokens that all tokens attend to, at most `tokens`
 */
export function queryBlocks(tokens: number, keys: number): number[] {
  const blocks = Math.ceil(tokens / keys);
  return Array.from({ length: blocks }, (_, block) => Math.min(block * keys, tokens - keys));
}
