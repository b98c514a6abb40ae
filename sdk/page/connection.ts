import { element, onSubmit } from "./elements.ts";

/** What the deployment serves: some fields of `GET /info`. */
export interface Info {
  readonly model_id: string;
  readonly model_sha: string;
  readonly task: string;
  /** Whether a classifier reads texts or pairs. */
  readonly input?: "text" | "pair" | undefined;
  readonly model_type: Readonly<Record<string, unknown>>;
  /** Dimensions of a vector; undefined if the task has none. */
  readonly dimensions?: number;
  /** Maximum tokens of a text. */
  readonly max_input_length: number;
  /** Number of regions that can answer instead of the edge. */
  readonly regions: number;
  /** Whether browsers can load the model's files. */
  readonly artifacts: boolean;
  /** Budget of requests that give none, in ms. */
  readonly default_latency_budget_ms?: number;
  /** CPU time that the platform allows per request, in ms. */
  readonly cpu_limit_ms?: number;
  /** Tokens of the longest text that can be computed in this time. */
  readonly cpu_limit_tokens?: number;
  /** Number of texts of 16 tokens that can be computed in this time. */
  readonly cpu_limit_texts?: number;
}

export interface Connection {
  readonly baseURL: string;
  /** The API key; `none` for a deployment without keys. */
  readonly key: string;
  readonly info: Info;
}

/** Key of the API key in the tab's storage. */
const STORED = "bert-edge-key";
/** Number of times, and pause in ms, for which the page waits for a deployment that loads its model. */
const [LOADING_TRIES, LOADING_MS] = [20, 1_000];
/** Key of deployments without keys. The client sends one always. */
export const NO_KEY = "none";

/** Characters that a header carries everywhere. `fetch` refuses some others. */
const KEY = /^[!-~]+$/;
const NOT_A_KEY = "A key has only letters, digits and signs of ASCII, without blanks.";

/** Says that the page has no connection. `state` is the short form of the message, for the page's head. */
export class NotConnected extends Error {
  readonly state: string;
  constructor(state: string, message: string) {
    super(message);
    this.state = state;
  }
}

/**
 * Connects to the deployment that serves this page. Asks for a key if one is required. A key can also be given in the URL, as
 * `/#key=…`: browsers do not send this part to servers.
 *
 * @throws NotConnected
 */
export async function connect(): Promise<Connection> {
  const baseURL = new URL(".", location.href).href;
  const askForKey = keyForm();
  const given = keyInUrl();
  let key = given ?? sessionStorage.getItem(STORED) ?? NO_KEY;
  for (let tries = 1; ; tries++) {
    if (!KEY.test(key)) key = await askForKey(NOT_A_KEY);
    const response = await fetch(new URL("info", baseURL), { headers: { authorization: `Bearer ${key}` } }).catch(
      (error: Error) => {
        throw new NotConnected("The deployment does not answer.", error.message);
      },
    );
    if (response.ok) {
      // Only now: a reload must not repeat a key that does not work.
      if (key !== NO_KEY) sessionStorage.setItem(STORED, key);
      element("key", HTMLElement).hidden = true;
      return { baseURL, key, info: (await response.json()) as Info };
    }
    const { code, message } = await errorOf(response);
    if (response.status === 503 && code !== "keys_not_configured" && tries < LOADING_TRIES) {
      element("served", HTMLElement).textContent = "The model is loading…";
      await new Promise((resolve) => setTimeout(resolve, LOADING_MS));
      continue;
    }
    if (response.status !== 401) {
      throw new NotConnected(`The deployment answers with an error: HTTP ${response.status}.`, message);
    }
    sessionStorage.removeItem(STORED);
    key = await askForKey(key === NO_KEY ? "" : message);
  }
}

/** Takes the key out of the URL. Returns undefined if there is none; text that is not percent-encoded stays as it is. */
function keyInUrl(): string | undefined {
  const given = /^#key=(.+)$/.exec(location.hash)?.[1];
  if (given === undefined) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    return decodeURIComponent(given);
  } catch {
    return given;
  }
}

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  const body = (await response.json().catch(() => undefined)) as
    | { error?: { code?: string; message?: string; hint?: string } }
    | undefined;
  const { code = "", message = `The deployment answered HTTP ${response.status}.`, hint = "" } = body?.error ?? {};
  return { code, message: `${message} ${hint}`.trim() };
}

/** Returns a function that shows the form for the key, with an error, and waits for the key that the user sends. */
function keyForm(): (error: string) => Promise<string> {
  const input = element("key-input", HTMLInputElement);
  let send: (key: string) => void = () => {};
  onSubmit("key-form", async () => send(input.value.trim()));
  return (error) => {
    element("key", HTMLElement).hidden = false;
    element("key-error", HTMLElement).textContent = error;
    element("served", HTMLElement).textContent = "An API key is needed.";
    input.focus();
    return new Promise((resolve) => {
      send = resolve;
    });
  };
}
