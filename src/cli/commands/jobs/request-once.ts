import { type Command, InvalidArgumentError, Option } from "commander";
import { machineRandom } from "../../../lib/random/machine-random.ts";
import { retryWhileBusy } from "../../client/retry-wait.ts";
import { type ServerClient, ServerUnreachable } from "../../client/server-client.ts";
import { CommandFailure } from "../../exit.ts";
import { GROUPS } from "../../help-groups.ts";
import { progressLine } from "../../output/progress-line.ts";

/** Flags of commands that create jobs. */
export interface KeyFlags {
  readonly idempotencyKey?: string;
}

export const addKeyFlag = (command: Command): Command =>
  command.addOption(
    new Option(
      "--idempotency-key <key>",
      "a name for this request: a repeated command with the same key creates no further jobs, and prints the existing ones",
    )
      .argParser(parseKey)
      .helpGroup(GROUPS.waiting),
  );

function parseKey(text: string): string {
  if (!/^[\x21-\x7e]{1,255}$/.test(text))
    throw new InvalidArgumentError("1 to 255 printable ASCII characters without blanks.");
  return text;
}

/**
 * Sends a request that creates an object. If the answer is lost (for example because the server restarts), sends the
 * request again with the same idempotency key, so that the server creates nothing twice.
 */
export async function requestOnce(
  client: ServerClient,
  path: string,
  { idempotencyKey = machineRandom.uuid() }: KeyFlags,
  document?: object,
): Promise<string> {
  const options = { idempotencyKey, ...(document === undefined ? {} : { document }) };
  const request = (): Promise<string> => client.request("POST", path, options);
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof ServerUnreachable) || !error.mayHaveReceived) throw error;
  }
  const line = progressLine();
  try {
    return await retryWhileBusy(client.clock, request, (why) => line.show(why)).catch((error: unknown) => {
      if (!(error instanceof ServerUnreachable)) throw error;
      const remedy = `the same command with --idempotency-key ${idempotencyKey} finds its jobs, or creates them`;
      throw new CommandFailure(
        `${error.message}; it is not known whether the request was carried out: ${remedy}`,
        error.exitCode,
      );
    });
  } finally {
    line.close();
  }
}
