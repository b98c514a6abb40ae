/** A Worker without a model, to measure the time that workerd and a request take without it. */
export default { fetch: (): Response => new Response() };
