/** Long enough for the clock, short enough that the machine keeps its clock rate. */
const SAMPLE_MS = 1;
/** Enough for V8 to compile with optimizations. */
const WARM_UP_MS = 50;

/** Warms `run` up. @returns what takes a sample: the seconds of one call */
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
