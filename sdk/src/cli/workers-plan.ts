/** CPU time per request of Cloudflare's plans, in ms: https://developers.cloudflare.com/workers/platform/limits/#cpu-time */
export const FREE_PLAN_MS = 10;
export const PAID_PLAN_MS = 30_000;
