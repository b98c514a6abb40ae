/**
 * Makes one token of neighbouring unknown tokens, from the token `from` on.
 *
 * @param starts begins with the start of the token `from`
 */
export function fuseUnknown(unknown: number, ids: number[], from: number, starts?: number[]): void {
  let end = from;
  for (let at = from; at < ids.length; at++) {
    if (at > from && ids[at] === unknown && ids[end - 1] === unknown) continue;
    if (starts) starts[end - from] = starts[at - from] as number;
    ids[end++] = ids[at] as number;
  }
  ids.length = end;
  if (starts) starts.length = end - from;
}
