/** Copies one head's columns of x [tokens, heads · size] to [tokens, size]. */
export function columnsOfHead(x: Float32Array, head: number, heads: number, size: number): Float32Array {
  const part = new Float32Array(x.length / heads);
  for (let i = 0; i < part.length; i++) {
    part[i] = x[(Math.floor(i / size) * heads + head) * size + (i % size)] as number;
  }
  return part;
}
