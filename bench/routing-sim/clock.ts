/** A virtual clock with events, in milliseconds. */
export interface Clock {
  now(): number;
  /** Runs a function at a time, which must not be in the past. */
  at(time: number, run: () => void): void;
  after(ms: number, run: () => void): void;
  /** Runs all events before a time, in order, and sets the clock to this time. */
  runUntil(time: number): void;
}

const ARITY = 4;
const FIRST_CAPACITY = 1_024;

/** Makes a clock whose events are in a heap: every node has four children, and its time is not after theirs. */
export function virtualClock(): Clock {
  let current = 0;
  let size = 0;
  let times = new Float64Array(FIRST_CAPACITY);
  const runs: (() => void)[] = [];

  function push(time: number, run: () => void): void {
    if (size === times.length) {
      const larger = new Float64Array(2 * size);
      larger.set(times);
      times = larger;
    }
    let hole = size++;
    while (hole > 0) {
      const parent = (hole - 1) >> 2;
      if ((times[parent] as number) <= time) break;
      times[hole] = times[parent] as number;
      runs[hole] = runs[parent] as () => void;
      hole = parent;
    }
    times[hole] = time;
    runs[hole] = run;
  }

  /** Removes the first event, and returns its function. */
  function pop(): () => void {
    const first = runs[0] as () => void;
    const time = times[--size] as number;
    const run = runs.pop() as () => void;
    if (size === 0) return first;
    let hole = 0;
    for (;;) {
      let child = hole * ARITY + 1;
      if (child >= size) break;
      const end = Math.min(child + ARITY, size);
      for (let other = child + 1; other < end; other++) {
        if ((times[other] as number) < (times[child] as number)) child = other;
      }
      if ((times[child] as number) >= time) break;
      times[hole] = times[child] as number;
      runs[hole] = runs[child] as () => void;
      hole = child;
    }
    times[hole] = time;
    runs[hole] = run;
    return first;
  }

  return {
    now: () => current,
    at: push,
    after: (ms, run) => push(current + ms, run),
    runUntil(time) {
      while (size > 0 && (times[0] as number) < time) {
        current = times[0] as number;
        pop()();
      }
      current = time;
    },
  };
}
