/** The Content-Security-Policy of the console. Maps are drawn from `blob:` and `data:` pictures. Nothing inline runs, and nothing comes from another host. */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
