import { albert } from "./albert.ts";
import { bert, electra, mpnet, roberta } from "./bert-like.ts";
import { debertaV2 } from "./deberta-v2.ts";
import { distilBert } from "./distilbert.ts";
import { euroBert } from "./eurobert.ts";
import type { Family } from "./family.ts";
import { gte } from "./gte.ts";
import { modernBert } from "./modernbert.ts";
import { nomicBert } from "./nomic-bert.ts";

/**
 * All families that can be imported, by model_type. To add a family, write a file in this folder that exports a
 * `Family`, and list the family here.
 */
export const families: Readonly<Record<string, Family>> = {
  bert,
  electra,
  roberta,
  "xlm-roberta": roberta,
  camembert: roberta,
  distilbert: distilBert,
  albert,
  mpnet,
  modernbert: modernBert,
  nomic_bert: nomicBert,
  gte,
  new: gte,
  eurobert: euroBert,
  "deberta-v2": debertaV2,
};
