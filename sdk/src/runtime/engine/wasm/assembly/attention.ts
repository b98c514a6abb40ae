import {
  ATTENTION_BIAS,
  ATTENTION_BIAS_STEP,
  ATTENTION_GEMM,
  ATTENTION_KEY,
  ATTENTION_OUT,
  ATTENTION_OUT_STRIDE,
  ATTENTION_QUERY,
  ATTENTION_SCALE,
  ATTENTION_SCRATCH,
  ATTENTION_SIZE,
  ATTENTION_STRIDE,
  ATTENTION_TOKENS,
  ATTENTION_VALUE,
  GEMM_A,
  GEMM_K,
  GEMM_M,
  GEMM_N,
  GEMM_OUT,
  GEMM_ROW_PARAMETERS,
  GEMM_SCALES,
  GEMM_STRIDE,
  GEMM_WEIGHT,
  ROW_PARAMETERS,
} from "../constants/memory";
import { QUERY_BLOCK } from "../constants/tiles";
import { quantizeKeys, quantizeValues } from "./attention-operands";
import { gemmContext, gemmScores } from "./gemm";
import { quantizeSymmetricInt8 } from "./quantize";
import { keysAt, numeratorsAt, paddedTokens, parametersAt, scoresAt, valueScalesAt, valuesAt } from "./scratch";
import { softmaxInt8 } from "./softmax";

/**
 * Computes softmax(query · keyᵀ · scale + bias) · value for one head of one sequence. The softmax uses powers of 2, so the
 * caller multiplies scale and bias by log₂ e.
 *
 * @param call address of the struct of attentionInt8, see constants/memory.ts
 */
export function attentionInt8(call: usize): void {
  const stride = load<i32>(call, ATTENTION_STRIDE);
  const tokens = load<i32>(call, ATTENTION_TOKENS);
  const size = load<i32>(call, ATTENTION_SIZE);
  const bias = load<usize>(call, ATTENTION_BIAS);
  const scratch = load<usize>(call, ATTENTION_SCRATCH);
  const padded = paddedTokens(tokens);
  const parameters = parametersAt(scratch, tokens, size);
  const keys = keysAt(scratch, tokens, size);
  const values = valuesAt(scratch, tokens, size);
  const valueScales = valueScalesAt(scratch, tokens, size);
  const scores = scoresAt(scratch, tokens, size);
  const numerators = numeratorsAt(scratch, tokens, size);

  const keyScale = quantizeKeys(load<usize>(call, ATTENTION_KEY), stride, tokens, padded, size, keys);
  const scale = keyScale * load<f32>(call, ATTENTION_SCALE);
  quantizeSymmetricInt8(load<usize>(call, ATTENTION_QUERY), stride, tokens, size, scale, scratch, parameters);
  quantizeValues(load<usize>(call, ATTENTION_VALUE), stride, tokens, padded, size, values, valueScales);
  for (let from = 0; from < tokens; from += QUERY_BLOCK) {
    const count = min(QUERY_BLOCK, tokens - from);
    const rows = parameters + from * ROW_PARAMETERS;
    store<i32>(ATTENTION_GEMM, count, GEMM_M);
    store<usize>(ATTENTION_GEMM, scratch + from * size, GEMM_A);
    store<i32>(ATTENTION_GEMM, size, GEMM_K);
    store<usize>(ATTENTION_GEMM, keys, GEMM_WEIGHT);
    store<i32>(ATTENTION_GEMM, padded, GEMM_N);
    store<usize>(ATTENTION_GEMM, scores, GEMM_OUT);
    store<i32>(ATTENTION_GEMM, padded, GEMM_STRIDE);
    gemmScores(ATTENTION_GEMM);
    for (let row = 0; row < count; row++) {
      const biases = bias ? bias + (from + row) * load<i32>(call, ATTENTION_BIAS_STEP) : 0;
      const rowScores = scores + ((row * padded) << 2);
      softmaxInt8(rowScores, tokens, padded, biases, numerators + row * padded, rows + row * ROW_PARAMETERS);
    }
    const outStride = load<i32>(call, ATTENTION_OUT_STRIDE);
    store<usize>(ATTENTION_GEMM, numerators, GEMM_A);
    store<usize>(ATTENTION_GEMM, rows, GEMM_ROW_PARAMETERS);
    store<i32>(ATTENTION_GEMM, padded, GEMM_K);
    store<usize>(ATTENTION_GEMM, values, GEMM_WEIGHT);
    store<usize>(ATTENTION_GEMM, valueScales, GEMM_SCALES);
    store<i32>(ATTENTION_GEMM, size, GEMM_N);
    store<usize>(ATTENTION_GEMM, load<usize>(call, ATTENTION_OUT) + ((from * outStride) << 2), GEMM_OUT);
    store<i32>(ATTENTION_GEMM, outStride, GEMM_STRIDE);
    gemmContext(ATTENTION_GEMM);
  }
}
