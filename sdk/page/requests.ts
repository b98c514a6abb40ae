import type { Answered, Budget, Place } from "./answers.ts";

/** A finished request of the page. */
export interface FinishedRequest {
  readonly task: string;
  /** Where it was answered; `failed` if it was refused or failed. */
  readonly place: Place | "failed";
  readonly reason: string | undefined;
  readonly tokens: number | undefined;
  /** The budget that counted: the page's, or a default of the deployment. */
  readonly budgetMs: number | undefined;
  readonly predictedMs: number | undefined;
  readonly measuredMs: number;
}

export interface Requests {
  /** Sends a request, and notes how it ended. */
  send<R>(task: string, request: (budget: Budget) => Promise<Answered<R>>): Promise<Answered<R>>;
}

/** Notes all requests of the page, the newest first. `changed` is called after each. */
export function requests(chosen: () => Budget, changed: (all: readonly FinishedRequest[]) => void): Requests {
  const all: FinishedRequest[] = [];
  return {
    async send(task, request) {
      const start = performance.now();
      const note = (
        { decision }: { decision?: string | undefined },
        details: Pick<FinishedRequest, "place" | "reason" | "tokens" | "predictedMs">,
      ) => {
        all.unshift({ task, budgetMs: budgetIn(decision), measuredMs: performance.now() - start, ...details });
        changed(all);
      };
      try {
        const answer = await request(chosen());
        const { place, reason, tokens, predictedMs } = answer;
        note(answer, { place, reason, tokens, predictedMs });
        return answer;
      } catch (error) {
        const { code, decision } = error as { code?: string; decision?: string };
        note({ decision }, { place: "failed", reason: code ?? "error", tokens: undefined, predictedMs: undefined });
        throw error;
      }
    },
  };
}

/** Returns the budget among the figures of a decision, in ms. */
function budgetIn(decision = ""): number | undefined {
  const [, budget] = /(?:^|, )budget=([\d.]+)/.exec(decision) ?? [];
  return budget === undefined ? undefined : Number(budget);
}
