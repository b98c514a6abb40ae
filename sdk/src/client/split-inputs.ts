/** Maximum bytes of a request's inputs as JSON: a quarter of the default limit of a deployment. */
const MAX_BYTES = 1_000_000;

/**
 * Splits inputs into batches, in order. A batch has at most `batchSize` inputs and `MAX_BYTES` bytes; a longer input is a batch
 * of its own. Without inputs there is one empty batch, which the service refuses.
 *
 * @returns the indices of each batch
 */
export function splitInputs(inputs: readonly unknown[], batchSize: number): number[][] {
  const encoder = new TextEncoder();
  let batch: number[] = [];
  const batches = [batch];
  let room = MAX_BYTES;
  inputs.forEach((input, index) => {
    const bytes = encoder.encode(JSON.stringify(input)).length;
    if (batch.length === batchSize || (batch.length > 0 && bytes > room)) {
      batch = [];
      batches.push(batch);
      room = MAX_BYTES;
    }
    batch.push(index);
    room -= bytes;
  });
  return batches;
}
