import * as address from "../constants/memory.ts";

type Pointer = number;

/** Operands of gemmInt8: a struct in memory, described in constants/memory.ts. */
export interface GemmInt8 {
  readonly a: Pointer;
  readonly rowParameters: Pointer;
  readonly m: number;
  readonly k: number;
  readonly weight: Pointer;
  readonly scales: Pointer;
  readonly zeroPoints: Pointer;
  readonly sums: Pointer;
  readonly bias: Pointer;
  readonly n: number;
  readonly out: Pointer;
  readonly stride: number;
}

/** Operands of attentionInt8: a struct in memory, described in constants/memory.ts. */
export interface AttentionInt8 {
  readonly query: Pointer;
  readonly key: Pointer;
  readonly value: Pointer;
  readonly stride: number;
  readonly tokens: number;
  readonly size: number;
  readonly scale: number;
  readonly bias: Pointer;
  readonly biasStep: number;
  readonly out: Pointer;
  readonly outStride: number;
  readonly scratch: Pointer;
}

type Unary = (x: Pointer, stride: number, rows: number, width: number, out: Pointer) => void;

/** Kernels that take their operands as parameters. */
interface PlainKernels {
  lookupInt8(table: Pointer, scales: Pointer, ids: Pointer, tokens: number, width: number, out: Pointer): void;
  lookupInt4(table: Pointer, scales: Pointer, ids: Pointer, tokens: number, width: number, out: Pointer): void;
  expandInt4(packed: Pointer, groups: number, group: number, out: Pointer): void;
  quantizeRowsInt8(x: Pointer, factors: Pointer, rows: number, width: number, out: Pointer, parameters: Pointer): void;
  quantizeColumnsInt8(x: Pointer, stride: number, rows: number, width: number, out: Pointer, parameters: Pointer): void;
  positionBiasesF32(
    ofQueries: Pointer,
    ofKeys: Pointer,
    first: number,
    buckets: number,
    bucketOf: Pointer,
    tokens: number,
    out: Pointer,
  ): void;
  layerNormF32(
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
  rmsNormF32(
    x: Pointer,
    skip: Pointer,
    gamma: Pointer,
    rows: number,
    width: number,
    epsilon: number,
    total: Pointer,
    out: Pointer,
  ): void;
  addRowsF32(x: Pointer, y: Pointer, yBytes: number, rows: number, width: number, out: Pointer): void;
  multiplyF32(
    x: Pointer,
    xStride: number,
    y: Pointer,
    yStride: number,
    rows: number,
    width: number,
    out: Pointer,
  ): void;
  geluF32: Unary;
  fastGeluF32: Unary;
  reluF32: Unary;
  tanhF32: Unary;
  sigmoidF32: Unary;
  swishF32(x: Pointer, stride: number, rows: number, width: number, out: Pointer, alpha: number): void;
  rotateF32(
    x: Pointer,
    stride: number,
    rows: number,
    width: number,
    size: number,
    cosines: Pointer,
    sines: Pointer,
  ): void;
  gemvF32(x: Pointer, rows: number, k: number, weight: Pointer, bias: Pointer, n: number, out: Pointer): void;
  poolMeanF32(x: Pointer, rows: number, width: number, out: Pointer): void;
  poolMaxF32(x: Pointer, rows: number, width: number, out: Pointer): void;
  normalizeF32(x: Pointer, width: number): void;
  /** @returns how many bytes of scratch memory attentionInt8 needs */
  attentionScratch(tokens: number, size: number): number;
}

/**
 * The kernels of `assembly/`. The comments there describe operands and formulas. Pointers are offsets in memory. Kernels do
 * not check their operands.
 */
export interface Kernels extends PlainKernels {
  gemmInt8(operands: GemmInt8): void;
  attentionInt8(operands: AttentionInt8): void;
}

type Exports = PlainKernels & Record<"gemmInt8" | "attentionInt8", (call: Pointer) => void>;

/**
 * Instantiates the kernels in a memory.
 *
 * @param module `assembly/`, compiled with or without relaxed SIMD
 */
export function instantiate(module: WebAssembly.Module, memory: WebAssembly.Memory): Kernels {
  const exports = new WebAssembly.Instance(module, { env: { memory } }).exports as unknown as Exports;
  let words = new DataView(memory.buffer);
  /** Returns a view of the memory. Growing the memory detaches the old view. */
  const current = () => {
    if (words.buffer !== memory.buffer) words = new DataView(memory.buffer);
    return words;
  };
  return {
    ...exports,
    gemmInt8(operands) {
      writeGemmInt8(current(), operands);
      exports.gemmInt8(address.CALL);
    },
    attentionInt8(operands) {
      writeAttentionInt8(current(), operands);
      exports.attentionInt8(address.CALL);
    },
  };
}

function writeGemmInt8(memory: DataView, operands: GemmInt8): void {
  const write = (field: number, word: number) => memory.setUint32(address.CALL + field, word, true);
  write(address.GEMM_A, operands.a);
  write(address.GEMM_ROW_PARAMETERS, operands.rowParameters);
  write(address.GEMM_M, operands.m);
  write(address.GEMM_K, operands.k);
  write(address.GEMM_WEIGHT, operands.weight);
  write(address.GEMM_SCALES, operands.scales);
  write(address.GEMM_ZERO_POINTS, operands.zeroPoints);
  write(address.GEMM_SUMS, operands.sums);
  write(address.GEMM_BIAS, operands.bias);
  write(address.GEMM_N, operands.n);
  write(address.GEMM_OUT, operands.out);
  write(address.GEMM_STRIDE, operands.stride);
}

function writeAttentionInt8(memory: DataView, operands: AttentionInt8): void {
  const write = (field: number, word: number) => memory.setUint32(address.CALL + field, word, true);
  write(address.ATTENTION_QUERY, operands.query);
  write(address.ATTENTION_KEY, operands.key);
  write(address.ATTENTION_VALUE, operands.value);
  write(address.ATTENTION_STRIDE, operands.stride);
  write(address.ATTENTION_TOKENS, operands.tokens);
  write(address.ATTENTION_SIZE, operands.size);
  memory.setFloat32(address.CALL + address.ATTENTION_SCALE, operands.scale, true);
  write(address.ATTENTION_BIAS, operands.bias);
  write(address.ATTENTION_BIAS_STEP, operands.biasStep);
  write(address.ATTENTION_OUT, operands.out);
  write(address.ATTENTION_OUT_STRIDE, operands.outStride);
  write(address.ATTENTION_SCRATCH, operands.scratch);
}
