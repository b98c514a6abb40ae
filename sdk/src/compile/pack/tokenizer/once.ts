/** The number that a key got when it first came, in the order in which keys come. */
export function once(known: Map<string, number>, key: string, onNew: () => void): number {
  const number = known.get(key);
  if (number !== undefined) return number;
  onNew();
  known.set(key, known.size);
  return known.size - 1;
}
