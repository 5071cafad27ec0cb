/**
 * The Content-Security-Policy of the console. Maps use pictures with `blob:` and `data:` addresses. No inline script
 * runs, and no other host is contacted.
 */
export const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
