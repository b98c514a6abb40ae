/*
 * Addresses and structs that the kernels (AssemblyScript) and the engine (TypeScript) share. Both compilers read this
 * file. run/memory-map.ts has the whole memory map. assembly/scratch.ts describes the scratch memory of attention.
 */

/** Address of the struct of a kernel call: the operands as 32-bit words, at the offsets below. */
export const CALL = 1024;
/** Address of the struct of gemmInt8 for the GEMMs inside attention. */
export const ATTENTION_GEMM = 1088;
/** Address of a buffer for a tile that extends past a matrix's last column: f32 or i32 [6, 4]. */
export const TILE_TAIL = 1152;
/** Addresses of the minimum and the maximum of every channel (column) of a head: f32 [MAX_HEAD_SIZE] each. */
export const CHANNEL_MIN = 1280;
export const CHANNEL_MAX = 2304;
/** Address of the kernels' constants. The script `build:kernel` passes this address to the compiler. */
export const KERNEL_DATA = 3328;
/** Address of the model file. */
export const MODEL = 4096;

/**
 * Size in bytes of the parameters of an int8 row. The parameters are four words: the scale (f32), the zero point (i32),
 * Σ values − width · zero point (i32), and an unused word.
 */
export const ROW_PARAMETERS = 16;
export const ROW_SCALE = 0;
export const ROW_ZERO_POINT = 4;
export const ROW_SUM = 8;

/*
 * Struct of gemmInt8: out[m, n] = a[m, k] · wᵀ. If the comment of a field begins with a shape, the field contains the
 * address of a matrix or vector. A u7 is a byte from 0 to 127.
 */
/** i8 [m, k] */
export const GEMM_A = 0;
/** Address of the quantization parameters of each row of the matrix a. */
export const GEMM_ROW_PARAMETERS = 4;
export const GEMM_M = 8;
/** k, a multiple of 4. */
export const GEMM_K = 12;
/** u7 [n/8, k/4, 8, 4] */
export const GEMM_WEIGHT = 16;
/** f32 [n], filled up to a multiple of TILE_OUTPUTS, like zero points, sums and bias. */
export const GEMM_SCALES = 20;
/** i32 [n] */
export const GEMM_ZERO_POINTS = 24;
/** i32 [n]: the sum of each output's weights. */
export const GEMM_SUMS = 28;
/** f32 [n] */
export const GEMM_BIAS = 32;
export const GEMM_N = 36;
/** f32 [m, stride] */
export const GEMM_OUT = 40;
export const GEMM_STRIDE = 44;

/*
 * Struct of attentionInt8: one head of one sequence. If the comment of a field begins with a shape, the field contains
 * the address of a matrix or vector.
 */
/** f32 [tokens, stride], like keys and values. The kernel reads `size` numbers of each row. */
export const ATTENTION_QUERY = 0;
export const ATTENTION_KEY = 4;
export const ATTENTION_VALUE = 8;
export const ATTENTION_STRIDE = 12;
export const ATTENTION_TOKENS = 16;
/** Numbers per head: a multiple of 4, at most MAX_HEAD_SIZE. */
export const ATTENTION_SIZE = 20;
/** f32: the scale of the scores times LOG2_E. It must be positive. */
export const ATTENTION_SCALE = 24;
/** f32 [tokens]: biases of the first query, times LOG2_E; 0 for none. Entry j is added to the score of key j. */
export const ATTENTION_BIAS = 28;
/** Bytes from the biases of a query to the biases of the next query. If negative, the rows of biases overlap. */
export const ATTENTION_BIAS_STEP = 32;
/** f32 [tokens, out stride]. The kernel writes `size` numbers of each row. */
export const ATTENTION_OUT = 36;
export const ATTENTION_OUT_STRIDE = 40;
/** Address of the scratch memory. Its size in bytes is attentionScratch(tokens, size). */
export const ATTENTION_SCRATCH = 44;
