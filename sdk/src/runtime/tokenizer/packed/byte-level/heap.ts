/** A min-heap of numbers: `pop` removes the smallest. */
export interface Heap {
  push(key: number): void;
  pop(): number | undefined;
}

export function createHeap(): Heap {
  const keys: number[] = [];
  return {
    push(key) {
      let at = keys.length;
      keys.push(key);
      while (at > 0) {
        const parent = (at - 1) >> 1;
        const above = keys[parent] as number;
        if (above <= key) break;
        keys[at] = above;
        at = parent;
      }
      keys[at] = key;
    },
    pop() {
      const smallest = keys[0];
      const key = keys.pop();
      if (key === undefined || keys.length === 0) return smallest;
      let at = 0;
      for (;;) {
        let child = 2 * at + 1;
        if (child >= keys.length) break;
        if (child + 1 < keys.length && (keys[child + 1] as number) < (keys[child] as number)) child++;
        const below = keys[child] as number;
        if (key <= below) break;
        keys[at] = below;
        at = child;
      }
      keys[at] = key;
      return smallest;
    },
  };
}
