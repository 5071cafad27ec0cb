/** Whether the server can serve, or why not. */
export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly reason: string;
      /** Nothing but health is answered: a truncation that the last process did not finish may still be under way. */
      readonly isStarting?: true;
    };

export const STARTING: Readiness = { ready: false, reason: "starting", isStarting: true };
