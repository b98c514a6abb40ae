import type { Answered, Place } from "./answers.ts";

/** A finished request of the page. */
export interface FinishedRequest {
  readonly task: string;
  /** Where it was answered; `failed` if it was refused or failed. */
  readonly place: Place | "failed";
  readonly reason: string | undefined;
  readonly tokens: number | undefined;
  readonly budgetMs: number | undefined;
  readonly predictedMs: number | undefined;
  readonly measuredMs: number;
}

export interface Requests {
  /** Sends a request, and notes how it ended. */
  send<R>(task: string, request: (budgetMs: number | undefined) => Promise<Answered<R>>): Promise<Answered<R>>;
}

/** Notes all requests of the page, the newest first. `changed` is called after each. */
export function requests(
  budgetMs: () => number | undefined,
  changed: (all: readonly FinishedRequest[]) => void,
): Requests {
  const all: FinishedRequest[] = [];
  return {
    async send(task, request) {
      const start = performance.now();
      const budget = budgetMs();
      const note = (details: Pick<FinishedRequest, "place" | "reason" | "tokens" | "predictedMs">) => {
        all.unshift({ task, budgetMs: budget, measuredMs: performance.now() - start, ...details });
        changed(all);
      };
      try {
        const answer = await request(budget);
        const { place, reason, tokens, predictedMs } = answer;
        note({ place, reason, tokens, predictedMs });
        return answer;
      } catch (error) {
        const { code } = error as { code?: string };
        note({ place: "failed", reason: code ?? "error", tokens: undefined, predictedMs: undefined });
        throw error;
      }
    },
  };
}
