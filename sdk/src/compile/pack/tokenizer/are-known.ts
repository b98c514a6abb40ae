/** Whether every word that was looked up has an id. */
export const areKnown = (ids: (number | undefined)[]): ids is number[] => !ids.includes(undefined);
