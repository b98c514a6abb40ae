/** Places of table rows in memory: the first rows stay, and the least recently used of the others makes room for new ones. */
export interface RowCache {
  /** Returns the place of a row; undefined if it is not in memory. Marks the row as used. */
  placeOf(row: number): number | undefined;
  /** Takes a place for a row that is not in memory. */
  take(row: number): number;
  /** Number of rows that made room for others. */
  evictions(): number;
}

/**
 * @param resident number of rows that stay in memory, at places 0, 1, …
 * @param cached number of places after them
 */
export function rowCache(resident: number, cached: number): RowCache {
  /** Places by row, the least recently used first. */
  const places = new Map<number, number>();
  let evictions = 0;
  return {
    placeOf(row) {
      if (row < resident) return row;
      const place = places.get(row);
      if (place === undefined) return undefined;
      places.delete(row);
      places.set(row, place);
      return place;
    },
    take(row) {
      let place = resident + places.size;
      if (places.size === cached) {
        const [[oldest, itsPlace]] = places.entries() as unknown as [[number, number]];
        places.delete(oldest);
        evictions++;
        place = itsPlace;
      }
      places.set(row, place);
      return place;
    },
    evictions: () => evictions,
  };
}
