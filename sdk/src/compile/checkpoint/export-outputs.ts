import { plainName } from "../graph/input-role.ts";

/** Name that sentence-transformers gives to hidden states. */
export const TOKEN_EMBEDDINGS = "token_embeddings";

/** Names of hidden states in exports: of transformers, of sentence-transformers, and of TensorFlow Hub and Keras Hub. */
export const HIDDEN_STATES: readonly string[] = ["last_hidden_state", TOKEN_EMBEDDINGS, "sequence_output"];

/** Name that sentence-transformers and Optimum give to the vector of a text. */
export const SENTENCE_EMBEDDING = "sentence_embedding";

/** Whether an output's name says that it is the vector of a text. The output may still have a vector for each token. */
export const isSentenceVector = (name: string): boolean =>
  /sentence|embed|vec/i.test(name) && !HIDDEN_STATES.includes(plainName(name));

/** Names of other outputs of transformers' encoders: the pooler, the layers' hidden states, and attention probabilities. */
export const isUsualExtra = (name: string): boolean =>
  /^(pooler_output|pooled_output|hidden_states|attentions)/.test(plainName(name));

/** The output that a task needs from an export. */
export interface ExportedResult {
  /** Possible names of the output. Optimum, sentence-transformers and transformers use different names. */
  readonly names: readonly string[];
  /** Shape of the output. The batch and sequence sizes are undefined. */
  readonly shape: readonly (number | undefined)[];
}
