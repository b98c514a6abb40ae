import { errorCodes } from "#sdk/artifact/error-codes.ts";
import type { Refusal, WrongInput } from "./wrong-input.ts";

/** Characters of message and hint together, at most: what a person reads before searching the docs. */
const MAX_CHARACTERS = 900;
/** Mistakes that one input may have, each with a hint. */
const MAX_HINTS = 8;

/** Places of the package's own code, and lines of a stack. */
const OF_OUR_CODE = /\/sdk\/(?:src|dist)\/|node_modules\/|^\s+at \S+ \(/m;
/** What JavaScript writes if a program did not check what it got. */
const OF_JAVASCRIPT =
  /is not a function|is not iterable|Cannot read propert|Cannot destructure|of undefined|of null\b|\[object \w+\]|\bundefined\b.*is not|Received (?:undefined|null|an instance|type )|ERR_[A-Z]/;
/** Characters that no terminal shows, or that change the direction of a text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it finds them.
const NOT_PRINTABLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufffd]|\p{Surrogate}/u;

/** The refusals that a user met before the input was taken. */
export interface Judged {
  readonly refusals: readonly Refusal[];
  /** Why an answer is no good; undefined if all are. */
  readonly fault?: string | undefined;
}

/** Gives an input, does what its hints say until it is taken, and judges all answers. */
export async function judge(input: WrongInput): Promise<Judged> {
  const refusals: Refusal[] = [];
  let given = input;
  for (let hints = 0; hints <= MAX_HINTS; hints++) {
    const refusal = await given.give();
    if (!refusal) {
      const isWrong = hints === 0 && !input.mayBeTaken;
      return { refusals, ...(isWrong && { fault: "it was taken without a word" }) };
    }
    refusals.push(refusal);
    const fault = faultOf(refusal, given.names);
    if (fault) return { refusals, fault };
    const next = given.followed(refusal);
    if (!next) return { refusals, fault: "the hint says nothing that can be done" };
    given = next;
  }
  return { refusals, fault: `after ${MAX_HINTS} hints, it is still refused` };
}

/** Says what is wrong with a refusal; undefined if nothing is. */
export function faultOf({ status, code, message, hint = "" }: Refusal, names: readonly string[]): string | undefined {
  const text = `${message} ${hint}`;
  if (/^\d/.test(status) && !/^4\d\d$/.test(status)) return `the status is ${status}`;
  if (code !== undefined && !Object.hasOwn(errorCodes, code)) return `there is no code ${code}`;
  if (code === "internal") return "it is an unexpected error";
  if (message.trim() === "") return "there is no message";
  if (text.length > MAX_CHARACTERS) return `it has ${text.length} characters`;
  if (OF_OUR_CODE.test(text)) return "it shows a place of our code";
  if (OF_JAVASCRIPT.test(text)) return "it has words of JavaScript";
  if (NOT_PRINTABLE.test(text)) return "it has characters that cannot be seen";
  if (/[^.!?:…)"'`\]}]\s+(?:Send|Set|Leave|Correct|Give|Use|Add|Run) /.test(message)) return "a full stop is missing";
  // A command has no full stop, which a reader would copy.
  if (!/[.!?:)}\]`"]$|: bert-edge [^.]*\.?[^. ]*$/.test(hint === "" ? message : hint))
    return "the last sentence has no end";
  if (!names.some((name) => text.toLowerCase().includes(name.toLowerCase())))
    return `it names none of ${names.join(", ")}`;
  return undefined;
}
