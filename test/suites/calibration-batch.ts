import { type Tensor, tensor } from "../../sdk/src/build/graph/tensor.ts";
import type { Batch } from "./encoder-batch.ts";

/** A batch as the inputs of an encoder, by name. */
export function calibrationBatch({ ids, mask, types }: Batch): ReadonlyMap<string, Tensor> {
  const shape = [mask.length, mask[0]?.length ?? 0];
  const rows = { input_ids: ids, attention_mask: mask, token_type_ids: types };
  return new Map(
    Object.entries(rows).map(([name, all]) => [name, tensor("int64", shape, BigInt64Array.from(all.flat(), BigInt))]),
  );
}
