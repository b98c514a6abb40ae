import { type Isolate, type IsolateOptions, startIsolate } from "./isolate.ts";
import type { Request } from "./request.ts";

/** Requests that every isolate of a point has in flight, before another isolate starts. */
const IN_FLIGHT = 1;

/**
 * A point of presence. A request goes to an isolate with the fewest requests in flight. A new isolate starts when all have
 * `IN_FLIGHT` requests, until the point has no room for more.
 */
export function simulatedPoint(options: Omit<IsolateOptions, "left">) {
  /** Isolates by their number of requests in flight. */
  const byLoad: Isolate[][] = [[]];
  let isolates = 0;

  function put(isolate: Isolate): void {
    while (byLoad.length <= isolate.inFlight) byLoad.push([]);
    isolate.slot = (byLoad[isolate.inFlight] as Isolate[]).push(isolate) - 1;
  }

  function take(isolate: Isolate): void {
    const list = byLoad[isolate.inFlight] as Isolate[];
    const last = list.pop() as Isolate;
    if (last === isolate) return;
    list[isolate.slot] = last;
    last.slot = isolate.slot;
  }

  function start(): Isolate {
    isolates++;
    const isolate = startIsolate({
      ...options,
      left(isolate) {
        take(isolate);
        isolate.inFlight--;
        put(isolate);
      },
    });
    put(isolate);
    return isolate;
  }

  function choose(): Isolate {
    const least = byLoad.findIndex((list) => list.length > 0);
    if ((least < 0 || least >= IN_FLIGHT) && isolates < options.plan.maxIsolates) return start();
    return (byLoad[least] as Isolate[]).at(-1) as Isolate;
  }

  return {
    receive(request: Request): void {
      const isolate = choose();
      take(isolate);
      isolate.inFlight++;
      put(isolate);
      isolate.receive(request);
    },
    isolates: () => isolates,
  };
}
