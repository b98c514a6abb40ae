import { BertEdgeError } from "../../artifact/error.ts";

/** Maximum number of token ids in a body: 2,048 texts of 122. */
const MAX_NUMBERS = 250_000;
/** Lists of lists in an object of `parameters` are the deepest that any schema has. */
const MAX_DEPTH = 5;

/**
 * Checks the lengths of all lists of a body, before a schema reads their items: a body of 4 MB has room for a million items.
 *
 * @param maxItems maximum length of a list, unless it begins with a number
 * @throws BertEdgeError `too_many_inputs`; `request_invalid` if lists have more than `MAX_NUMBERS` numbers together
 */
export function checkLists(body: unknown, maxItems: number): void {
  let numbers = 0;

  function visit(value: unknown, name: string, depth: number): void {
    if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return;
    if (!Array.isArray(value)) {
      for (const [key, inner] of Object.entries(value)) visit(inner, key, depth + 1);
      return;
    }
    if (typeof value[0] === "number") {
      numbers += value.length;
      if (numbers > MAX_NUMBERS) throw tooManyNumbers(name);
      return;
    }
    if (value.length > maxItems) throw tooLong(name, value.length, maxItems);
    for (const item of value) visit(item, name, depth + 1);
  }

  visit(body, "", 0);
}

const shown = (name: string): string => (name === "" ? "body" : `list \`${name.slice(0, 100)}\``);

const tooLong = (name: string, length: number, most: number) =>
  new BertEdgeError("too_many_inputs", `The ${shown(name)} has ${length} items, but at most ${most} are allowed.`, {
    hint: "Send the inputs in several requests.",
  });

const tooManyNumbers = (name: string) =>
  new BertEdgeError(
    "request_invalid",
    `The ${shown(name)} has too many token ids: a request has up to ${MAX_NUMBERS}.`,
    {
      hint: "Send the inputs in several requests, or send texts.",
    },
  );
