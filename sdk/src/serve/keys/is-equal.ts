/** Compares a secret with what was sent, in a time that depends on the length of what was sent only. */
export function isEqual(secret: string, sent: string): boolean {
  let difference = secret.length ^ sent.length;
  // Beyond the end of the secret, the code is NaN, which counts as 0.
  for (let i = 0; i < sent.length; i++) difference |= secret.charCodeAt(i) ^ sent.charCodeAt(i);
  return difference === 0;
}
