/** A Worker without a model: the cost of workerd and of a request. */
export default { fetch: (): Response => new Response() };
