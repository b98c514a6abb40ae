import type { PartialEmbeddings } from "./embeddings.ts";

/** The text of a call that waits to share a request with other calls. */
interface Waiting {
  readonly text: string;
  readonly answered: PromiseWithResolvers<PartialEmbeddings>;
}

/**
 * Collects up to `most` calls for one text that come within `collectMs`, and sends them together. Only calls with the same options share a
 * request. If the service refuses a text, only the call for this text fails.
 *
 * @param embedTexts embeds texts with `onError: "skip"`
 * @returns a function that answers the call for a text; `key` is the same for calls with the same options
 */
export function collectCalls(
  collectMs: number,
  most: number,
): (
  key: string,
  text: string,
  embedTexts: (texts: readonly string[]) => Promise<PartialEmbeddings>,
) => Promise<PartialEmbeddings> {
  const groups = new Map<string, Waiting[]>();
  return function collect(key, text, embedTexts) {
    const answered = Promise.withResolvers<PartialEmbeddings>();
    const group = groups.get(key);
    if (group && group.length < most) group.push({ text, answered });
    else {
      const calls = [{ text, answered }];
      groups.set(key, calls);
      setTimeout(() => {
        if (groups.get(key) === calls) groups.delete(key);
        void answerAll(calls, embedTexts);
      }, collectMs);
    }
    return answered.promise;
  };
}

async function answerAll(
  calls: readonly Waiting[],
  embedTexts: (texts: readonly string[]) => Promise<PartialEmbeddings>,
): Promise<void> {
  try {
    const { embeddings, failed, ...rest } = await embedTexts(calls.map(({ text }) => text));
    for (const [index, { answered }] of calls.entries()) {
      const failure = failed.find((each) => each.index === index);
      if (failure) answered.reject(failure.error);
      else answered.resolve({ ...rest, embeddings: [embeddings[index]], failed: [] });
    }
  } catch (error) {
    for (const { answered } of calls) answered.reject(error);
  }
}
