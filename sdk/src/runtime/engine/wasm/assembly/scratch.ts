import { ROW_PARAMETERS } from "../constants/memory";
import { QUERY_BLOCK, TILE_OUTPUTS } from "../constants/tiles";

/*
 * Regions of attentionInt8's scratch memory, in this order. `padded` is `tokens` rounded up to a multiple of 16, and
 * `columns` is `size` rounded up to a multiple of 8.
 *
 *   queries      i8  [tokens, size]
 *   parameters   {scale f32, …} [tokens], ROW_PARAMETERS bytes per query
 *   keys         u7  [padded/8, size/4, 8, 4]
 *   values       i8  [columns/8, padded/4, 8, 4]
 *   value scales f32 [columns]
 *   scores       i32 [QUERY_BLOCK, padded]
 *   numerators   u7  [QUERY_BLOCK, padded]
 */

/** Rounds the number of tokens up to a multiple of 16, because a vector has 16 bytes. */
// @ts-ignore: decorator
@inline
export function paddedTokens(tokens: i32): i32 {
  return (tokens + 15) & ~15;
}

// @ts-ignore: decorator
@inline
function paddedColumns(size: i32): i32 {
  return (size + TILE_OUTPUTS - 1) & -TILE_OUTPUTS;
}

// @ts-ignore: decorator
@inline
export function parametersAt(scratch: usize, tokens: i32, size: i32): usize {
  return scratch + tokens * size;
}

// @ts-ignore: decorator
@inline
export function keysAt(scratch: usize, tokens: i32, size: i32): usize {
  return parametersAt(scratch, tokens, size) + tokens * ROW_PARAMETERS;
}

// @ts-ignore: decorator
@inline
export function valuesAt(scratch: usize, tokens: i32, size: i32): usize {
  return keysAt(scratch, tokens, size) + paddedTokens(tokens) * size;
}

// @ts-ignore: decorator
@inline
export function valueScalesAt(scratch: usize, tokens: i32, size: i32): usize {
  return valuesAt(scratch, tokens, size) + paddedTokens(tokens) * paddedColumns(size);
}

// @ts-ignore: decorator
@inline
export function scoresAt(scratch: usize, tokens: i32, size: i32): usize {
  return valueScalesAt(scratch, tokens, size) + (paddedColumns(size) << 2);
}

// @ts-ignore: decorator
@inline
export function numeratorsAt(scratch: usize, tokens: i32, size: i32): usize {
  return scoresAt(scratch, tokens, size) + ((QUERY_BLOCK * paddedTokens(tokens)) << 2);
}

/** Returns how many bytes of scratch memory attentionInt8 needs. */
export function attentionScratch(tokens: i32, size: i32): i32 {
  return <i32>numeratorsAt(0, tokens, size) + QUERY_BLOCK * paddedTokens(tokens);
}
