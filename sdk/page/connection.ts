import { element, onSubmit } from "./elements.ts";

/** What the deployment serves: some fields of `GET /info`. */
export interface Info {
  readonly model_id: string;
  readonly model_sha: string;
  readonly task: string;
  readonly model_type: Readonly<Record<string, unknown>>;
}

export interface Connection {
  readonly baseURL: string;
  readonly key: string;
  readonly info: Info;
}

/** Key of the API key in the tab's storage. */
const STORED = "bert-edge-key";
/** Number of times, and pause in ms, for which the page waits for a deployment that loads its model. */
const [LOADING_TRIES, LOADING_MS] = [20, 1_000];
/** Key of deployments without keys. The client sends one always. */
const NO_KEY = "none";

/**
 * Connects to the deployment that serves this page. Asks for a key if one is required. A key can also be given in the URL, as
 * `/#key=…`: browsers do not send this part to servers.
 */
export async function connect(): Promise<Connection> {
  const baseURL = new URL(".", location.href).href;
  const given = /^#key=(.+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    sessionStorage.setItem(STORED, decodeURIComponent(given));
    history.replaceState(null, "", location.pathname + location.search);
  }
  let key = sessionStorage.getItem(STORED) ?? NO_KEY;
  for (let tries = 1; ; tries++) {
    const response = await fetch(new URL("info", baseURL), { headers: { authorization: `Bearer ${key}` } });
    if (response.ok) {
      element("key", HTMLElement).hidden = true;
      return { baseURL, key, info: (await response.json()) as Info };
    }
    const message = await messageOf(response);
    if (response.status === 503 && tries < LOADING_TRIES) {
      element("served", HTMLElement).textContent = "The model is loading…";
      await new Promise((resolve) => setTimeout(resolve, LOADING_MS));
      continue;
    }
    if (response.status !== 401) throw new Error(message);
    sessionStorage.removeItem(STORED);
    key = await askForKey(key === NO_KEY ? "" : message);
    sessionStorage.setItem(STORED, key);
  }
}

async function messageOf(response: Response): Promise<string> {
  const body = (await response.json().catch(() => undefined)) as { error?: { message?: string; hint?: string } };
  const { message = `The deployment answered HTTP ${response.status}.`, hint = "" } = body?.error ?? {};
  return `${message} ${hint}`.trim();
}

function askForKey(error: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const input = element("key-input", HTMLInputElement);
  element("key", HTMLElement).hidden = false;
  element("key-error", HTMLElement).textContent = error;
  element("served", HTMLElement).textContent = "An API key is needed.";
  input.focus();
  onSubmit("key-form", async () => resolve(input.value.trim()));
  return promise;
}
