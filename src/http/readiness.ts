/** States whether the server can serve requests, and the reason if it cannot. */
export type Readiness =
  | { readonly ready: true }
  | {
      readonly ready: false;
      readonly reason: string;
      /**
       * True: only health requests are answered, because a truncation that the last process did not finish may still be
       * running.
       */
      readonly isStarting?: true;
    };

export const STARTING: Readiness = { ready: false, reason: "starting", isStarting: true };
