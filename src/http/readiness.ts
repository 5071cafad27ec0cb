/** Whether the server can serve, or why not. */
export type Readiness = { readonly ready: true } | { readonly ready: false; readonly reason: string };
