/** Maximum bytes of a request's texts as JSON: a quarter of the default limit of a deployment. */
const MAX_BYTES = 1_000_000;

/**
 * Splits texts into batches, in order. A batch has at most `batchSize` texts and `MAX_BYTES` bytes; a longer text is a batch
 * of its own. Without texts there is one empty batch, which the service refuses.
 *
 * @returns the indices of each batch
 */
export function splitTexts(texts: readonly string[], batchSize: number): number[][] {
  const encoder = new TextEncoder();
  let batch: number[] = [];
  const batches = [batch];
  let room = MAX_BYTES;
  texts.forEach((text, index) => {
    const bytes = encoder.encode(JSON.stringify(text)).length;
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
