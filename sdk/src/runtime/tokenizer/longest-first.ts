/**
 * Truncates two texts to `room` tokens together, as the strategy `longest_first` of Hugging Face's Rust tokenizers does:
 * the longer text is cut, until both have the same length. If `room` is odd, the longer text keeps one token more, or the
 * second text if both have the same length.
 * https://github.com/huggingface/tokenizers/blob/main/tokenizers/src/utils/truncation.rs
 *
 * @param first number of tokens of the first text
 * @param second number of tokens of the second text
 * @returns how many tokens of the first and of the second text remain
 */
export function longestFirst(first: number, second: number, room: number): [first: number, second: number] {
  if (first + second <= room) return [first, second];
  const ofShorter = Math.min(first, second, Math.floor(room / 2));
  const ofLonger = room - ofShorter;
  return first > second ? [ofLonger, ofShorter] : [ofShorter, ofLonger];
}
