import type { Refusal } from "../lib/refusal.ts";
import { type Result, refuse } from "../lib/result.ts";

/** Runs work, or refuses it if too much work of its kind is running. */
export type Bounded = <T>(
  work: () => Promise<T>,
) => Promise<T | Extract<Result<never, Refusal>, { readonly ok: false }>>;

/**
 * Returns a function that runs at most `most` pieces of work at the same time in this process. It refuses further work,
 * which clients can request again.
 * @param running the subject and verb of the refusal, such as "estimates are being computed"
 */
export function limitConcurrency(most: number, running: string): Bounded {
  let count = 0;
  return async (work) => {
    if (count >= most)
      return refuse({
        code: "too_many_requests",
        message: `${most} ${running} already; repeat the request in a moment.`,
      });
    count++;
    try {
      return await work();
    } finally {
      count--;
    }
  };
}
