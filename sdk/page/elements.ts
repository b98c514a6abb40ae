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
