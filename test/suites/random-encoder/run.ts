import { toOrt } from "../../../sdk/src/build/evaluate/ort-tensor.ts";
import type { Graph } from "../../../sdk/src/build/graph/graph.ts";
import { tensor } from "../../../sdk/src/build/graph/tensor.ts";
import type { Tensors } from "../run-model.ts";
import { randomNumbers } from "../seeded.ts";
import { MAX_LENGTH, VOCABULARY } from "./draw.ts";

/** Batches of tokens with padding on either side and in between, by the names of an encoder's inputs. */
export function encoderBatches(graph: Graph, seed: number): Tensors[] {
  const random = randomNumbers(seed);
  return [
    [2, 5],
    [3, MAX_LENGTH],
    [1, 1],
  ].map(([batch = 1, sequence = 1]) => {
    const whole = (below: number) => () => BigInt(Math.floor(random() * below));
    const of = (next: (i: number) => bigint) =>
      toOrt(
        tensor(
          "int64",
          [batch, sequence],
          BigInt64Array.from({ length: batch * sequence }, (_, i) => next(i)),
        ),
      );
    const inputs = {
      input_ids: of(whole(VOCABULARY)),
      token_type_ids: of(whole(2)),
      // The middle token is always there: a row of padding alone has no meaning.
      attention_mask: of((i) => (i % sequence === Math.floor(sequence / 2) || random() < 0.6 ? 1n : 0n)),
    };
    return Object.fromEntries(
      Object.entries(inputs).filter(([name]) => graph.inputs.some((each) => each.name === name)),
    );
  });
}
