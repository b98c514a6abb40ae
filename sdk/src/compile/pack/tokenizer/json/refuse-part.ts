import { BertEdgeError } from "../../../../artifact/error.ts";

/** Creates the error for a part of tokenizer.json that cannot be packed, and that @huggingface/tokenizers reads differently from Rust's. */
export const refusedPart = (
  kind: "normalizer" | "pre-tokenizer" | "model" | "added token",
  what: string,
): BertEdgeError =>
  new BertEdgeError(
    "checkpoint_unsupported",
    `tokenizer.json has the ${kind} ${what}, which would not be read as Hugging Face's tokenizers read it.`,
    {
      hint: "Prepare a model with another tokenizer: `npx bert-edge models` lists some, and the page Limits lists the parts of tokenizers that are read.",
    },
  );
