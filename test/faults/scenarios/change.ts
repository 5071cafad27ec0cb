import type { Scenario } from "../scenario.ts";
import type { Answer, Trial } from "../trial.ts";

/** A change of one thing from a state to another one, each as a text. */
export interface Change {
  readonly name: string;
  readonly options: Scenario["options"];
  readonly prepare?: (trial: Trial) => Promise<unknown>;
  /** Sends the request that changes the thing. */
  readonly request: (trial: Trial) => Promise<Answer>;
  readonly state: (trial: Trial) => Promise<string>;
  readonly before: string;
  readonly after: string;
}

export const isDone = ({ status }: Answer): boolean => status >= 200 && status < 300;
/** Whether an answer says that nothing was changed. */
const isRefused = ({ status }: Answer): boolean => (status >= 400 && status < 500) || status === 507;

/**
 * Returns the scenario of a change: afterwards the thing has the state that the answer promises, or one of both without
 * an answer, and the repeated request succeeds.
 */
export const change = ({ name, options, prepare, request, state, before, after }: Change): Scenario => ({
  name,
  options,
  begin: (trial) => {
    let answer: Answer | undefined;
    return {
      prepare: async () => void (await prepare?.(trial)),
      act: async () => {
        answer = await request(trial);
      },
      check: async () => {
        const found = await state(trial);
        const allowed =
          answer === undefined ? [] : isDone(answer) ? [after] : isRefused(answer) ? [before] : [before, after];
        if (!allowed.includes(found))
          return [
            `after the answer ${answer?.status} ${answer?.text} the state is ${found}, not ${allowed.join(" or ")}`,
          ];
        if (found === after) return [];
        const again = await request(trial);
        const last = await state(trial);
        return isDone(again) && last === after
          ? []
          : [`the repeated request: ${again.status} ${again.text}, then ${last}`];
      },
    };
  },
});
