/**
 * Returns the function that gives the row of a token in a table that is cut into pages. Rows of frequent tokens come first: those of
 * `frequent`, in this order, and then the rows of all other tokens by their ids.
 *
 * @param frequent different token ids
 */
export function rowOrder(frequent: Int32Array): (id: number) => number {
  const byId = Int32Array.from(frequent.keys()).sort((a, b) => (frequent[a] as number) - (frequent[b] as number));
  const idAt = (place: number) => frequent[byId[place] as number] as number;
  return (id) => {
    // Finds the number of frequent tokens with smaller ids.
    let [low, high] = [0, byId.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (idAt(middle) < id) low = middle + 1;
      else high = middle;
    }
    return low < byId.length && idAt(low) === id ? (byId[low] as number) : frequent.length + id - low;
  };
}
