/** Duration of a sample. It is long enough for the clock, and too short for the CPU to change its frequency. */
const SAMPLE_MS = 1;
/** Duration of the warm-up, in which V8 compiles the code with its optimizing compiler. */
const WARM_UP_MS = 50;

/**
 * Runs `run` until V8 has compiled it with its optimizing compiler.
 *
 * @returns a function that measures one sample and returns the seconds of one call
 */
export function sampler(run: () => void): () => number {
  const begin = performance.now();
  let calls = 0;
  for (; performance.now() - begin < WARM_UP_MS; calls++) run();
  const repeats = Math.max(1, Math.round((calls * SAMPLE_MS) / WARM_UP_MS));
  return () => {
    const start = performance.now();
    for (let i = 0; i < repeats; i++) run();
    return (performance.now() - start) / 1000 / repeats;
  };
}
