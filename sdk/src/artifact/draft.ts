/** Warning about an artifact whose manifest has `draft`. */
export const DRAFT =
  "This is a first look (--fast): accuracy and times are rough. Prepare the model without --fast before you serve it.";
