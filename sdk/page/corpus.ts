/**
 * Texts that the page searches, unless the user gives others. They are short, because the free plan of Workers computes few words a
 * request. There it searches only the first ones, which its example queries are about.
 */
export const corpus: readonly string[] = [
  "Fold whipped cream into the melted chocolate.",
  "Restart the router, and check the cable.",
  "The goalkeeper saved two penalties.",
  "The court declared the contract void.",
  "Saturn's rings are mostly frozen water.",
  "The central bank left interest rates unchanged.",
  "Prune roses in late winter.",
  "The night train reaches Venice at eight.",
  "Wolves returned to the valley.",
  "The cellist tunes her lowest string down.",
  "A high fever needs a doctor.",
  "Rain is expected in the north.",
];

const SENTENCE = "The wheel still turns whenever the sluice is open. ";
/** About 200 words, in 220 tokens. */
export const longText = SENTENCE.repeat(22).trim();
