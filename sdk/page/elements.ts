/**
 * Returns the element of index.html with an id.
 *
 * @throws Error if there is none, or if it has another type
 */
export function element<E extends Element>(id: string, type: new () => E): E {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`index.html has no ${type.name} with the id ${id}.`);
}

/** Makes an element with text. The text is never read as HTML. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text: string,
  className = "",
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** Makes a place for errors at the end of a part of the page. Returns a function that shows an error there, or clears it. */
export function failureIn(id: string): (error?: unknown) => void {
  const place = make("p", "", "error");
  place.role = "alert";
  element(id, HTMLElement).append(place);
  return (error) => {
    const { message = "", hint = "" } = (error ?? {}) as { message?: string; hint?: string };
    place.textContent = `${message} ${hint}`.trim();
  };
}

/** Asks for an answer and shows it. `failed` is called before an error is shown. */
type AskNewest = <R>(ask: () => Promise<R>, show: (answer: R) => void, failed?: () => void) => Promise<void>;

/** Returns a function that asks for answers in a part of the page. Answers and errors that arrive after a newer question are not shown. */
export function newestIn(id: string): AskNewest {
  const report = failureIn(id);
  let asked = 0;
  return async (ask, show, failed) => {
    const mine = ++asked;
    try {
      const answer = await ask();
      if (mine !== asked) return;
      show(answer);
      report();
    } catch (error) {
      if (mine !== asked) return;
      failed?.();
      report(error);
    }
  };
}

/** Calls `submitted` instead of leaving the page. While it runs, the form cannot be submitted again. */
export function onSubmit(formId: string, submitted: () => Promise<void>): void {
  const form = element(formId, HTMLFormElement);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // The button stays enabled: a disabled one would lose the keyboard's focus.
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    try {
      await submitted();
    } finally {
      form.ariaBusy = "false";
    }
  });
}

/** Pause after the last key before `typed` is called, in ms. */
const TYPING_MS = 150;

/** Calls `typed` when the user has stopped typing into one of the fields for a moment. */
export function afterTyping(fields: readonly HTMLElement[], typed: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  for (const field of fields) {
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(typed, TYPING_MS);
    });
  }
}

/** Shows labels in their order, with a bar for each score from 0 to 1. */
export function showRanked(id: string, ranked: readonly { readonly label: string; readonly score?: number }[]): void {
  const items = ranked.map(({ label, score }) => {
    const item = make("li", `${label} `);
    if (score === undefined) return item;
    const bar = make("i", "", "bar");
    // A style in HTML would be against the page's policy; one that a script sets is not.
    bar.style.width = `${100 * Math.min(1, Math.max(0, score))}%`;
    item.append(make("span", score.toFixed(3)), bar);
    return item;
  });
  element(id, HTMLOListElement).replaceChildren(...items);
}
