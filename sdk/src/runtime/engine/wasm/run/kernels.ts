type Pointer = number;

/** What `assembly/` exports: shapes and formulas are documented there. Pointers are offsets in the memory. */
export interface Kernels {
  lookupInt8(table: Pointer, steps: Pointer, ids: Pointer, tokens: number, width: number, out: Pointer): void;
  lookupInt4(
    table: Pointer,
    steps: Pointer,
    ids: Pointer,
    tokens: number,
    width: number,
    block: number,
    out: Pointer,
  ): void;
  quantizeRows(x: Pointer, factors: Pointer, rows: number, width: number, out: Pointer, params: Pointer): void;
  multiply(
    a: Pointer,
    params: Pointer,
    m: number,
    k: number,
    weight: Pointer,
    scale: Pointer,
    zero: Pointer,
    sum: Pointer,
    bias: Pointer,
    n: number,
    out: Pointer,
    stride: number,
  ): void;
  layerNorm(
    x: Pointer,
    skip: Pointer,
    gamma: Pointer,
    beta: Pointer,
    rows: number,
    width: number,
    epsilon: number,
    total: Pointer,
    out: Pointer,
  ): void;
  addRows(x: Pointer, y: Pointer, yStep: number, rows: number, width: number, out: Pointer): void;
  gate(x: Pointer, xStride: number, y: Pointer, yStride: number, rows: number, width: number, out: Pointer): void;
  gelu(x: Pointer, stride: number, rows: number, width: number, out: Pointer): void;
  fastGelu(x: Pointer, stride: number, rows: number, width: number, out: Pointer): void;
  relu(x: Pointer, stride: number, rows: number, width: number, out: Pointer): void;
  tanh(x: Pointer, stride: number, rows: number, width: number, out: Pointer): void;
  sigmoid(x: Pointer, stride: number, rows: number, width: number, out: Pointer): void;
  sigmoidUnit(x: Pointer, stride: number, rows: number, width: number, out: Pointer, alpha: number): void;
  rotate(x: Pointer, stride: number, rows: number, width: number, size: number, cosines: Pointer, sines: Pointer): void;
  attention(
    query: Pointer,
    key: Pointer,
    value: Pointer,
    stride: number,
    tokens: number,
    size: number,
    scale: number,
    bias: Pointer,
    span: number,
    out: Pointer,
    outStride: number,
    scratch: Pointer,
  ): void;
  attentionScratch(tokens: number, size: number): number;
  dense(x: Pointer, rows: number, k: number, weight: Pointer, bias: Pointer, n: number, out: Pointer): void;
  poolMean(x: Pointer, rows: number, width: number, out: Pointer): void;
  poolMax(x: Pointer, rows: number, width: number, out: Pointer): void;
  normalize(x: Pointer, width: number): void;
}

/** @param module of `assembly/`, compiled for relaxed SIMD or without */
export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernels {
  return new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Kernels;
}

/** Largest head that attention has room for. */
export const MAX_HEAD_SIZE = 256;

/** Outputs per tile of a weight matrix. */
export const TILE_OUTPUTS = 8;
