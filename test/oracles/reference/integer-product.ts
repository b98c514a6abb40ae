/** Signed or unsigned bytes. */
export type Bytes = Int8Array | Uint8Array;

/**
 * Computes a · bᵀ in 32-bit integers. No sum overflows: even 3,072 products of two bytes add up to less than 2²⁷.
 *
 * @param a [m, k]
 * @param b [n, k]
 * @returns [m, n]
 */
export type IntegerProduct = (a: Int8Array, b: Bytes, k: number) => Int32Array | Promise<Int32Array>;

/** Reference implementation of IntegerProduct. */
export function integerProduct(a: Int8Array, b: Bytes, k: number): Int32Array {
  const [m, n] = [a.length / k, b.length / k];
  const product = new Int32Array(m * n);
  for (let row = 0; row < m; row++) {
    for (let column = 0; column < n; column++) {
      let sum = 0;
      for (let i = 0; i < k; i++) sum += (a[row * k + i] as number) * (b[column * k + i] as number);
      product[row * n + column] = sum;
    }
  }
  return product;
}
