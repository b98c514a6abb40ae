/** A Worker without a model. It shows how long workerd's start and a request take when there is no model. */
export default { fetch: (): Response => new Response() };
