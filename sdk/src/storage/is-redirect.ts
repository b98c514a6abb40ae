/** Whether a response with this status is a redirect. Status 0 is a redirect that a browser does not describe. */
export const isRedirect = (status: number | undefined): boolean =>
  status === 0 || (status !== undefined && status >= 300 && status < 400);
