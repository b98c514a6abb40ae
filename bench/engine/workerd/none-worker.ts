/** A Worker without a model: measures what workerd itself takes. */
export default { fetch: (): Response => new Response() };
