import type { Command } from "commander";
import { isoTime } from "../../../lib/time/iso-time.ts";
import { machineClock } from "../../../lib/time/machine-clock.ts";
import { type AnswerFlags, parseAnswer, print, type Received } from "../../client/answer.ts";
import { retryWhileBusy } from "../../client/retry-wait.ts";
import { type ServerClient, ServerUnreachable } from "../../client/server-client.ts";
import type { ServerEvent } from "../../client/server-events.ts";
import { progressLine } from "../../output/progress-line.ts";
import { jobLine } from "../../output/progress-text.ts";
import { timeText } from "../../output/text-table.ts";
import { connect, serverCommand } from "../server-command.ts";
import { layerOption, parseJobId } from "../shared-options.ts";

interface EventsFlags extends AnswerFlags {
  readonly layer?: string;
  readonly job?: number;
}

/** `nuthatch events`: prints each event of a running server as a line, until a signal ends the command. */
export function eventsCommand(): Command {
  return serverCommand("events", "follows the changes of jobs, one line for each, until Ctrl-C")
    .addOption(layerOption("only jobs of one layer"))
    .option("--job <job>", "only one job", parseJobId)
    .action(async ({ layer, job, ...flags }: EventsFlags) => {
      const client = connect(flags);
      if (process.stderr.isTTY && flags.json !== true)
        process.stderr.write(`Following the events of ${flags.url}; Ctrl-C ends.\n`);
      for await (const event of followed(client, { layer, job }))
        for (const line of flags.json === true ? [jsonLine(event)] : eventLines(event)) print(`${line}\n`);
    });
}

type GivenEvent = ServerEvent & { readonly data: string };

/** Yields events endlessly. Reconnects when the server restarts, and continues after the last event. */
async function* followed(
  client: ServerClient,
  query: Readonly<Record<string, string | number | undefined>>,
): AsyncGenerator<GivenEvent, never> {
  let lastEventId: string | undefined;
  const open = async () => {
    const events = client.events("/api/v1/events", { query, lastEventId });
    return { events, first: await events.next() };
  };
  // The first connection is not retried, because a wrong address is likelier than a restart.
  let stream = await open();
  for (;;) {
    for (let next = stream.first; next.done !== true; next = await nextOf(stream.events)) {
      const { event, id, data } = next.value;
      lastEventId = id;
      if (data !== undefined) yield { event, id, data };
    }
    const line = progressLine();
    try {
      stream = await retryWhileBusy(client.clock, open, (why) => line.show(why));
    } finally {
      line.close();
    }
  }
}

/** Returns the next event. A broken connection ends the stream. */
async function nextOf(events: AsyncGenerator<ServerEvent, undefined>): Promise<IteratorResult<ServerEvent, undefined>> {
  try {
    return await events.next();
  } catch (error) {
    if (!(error instanceof ServerUnreachable)) throw error;
    return { done: true, value: undefined };
  }
}

/** Returns an event as one line of JSON. Its data is the server's text, so that its numbers stay exact. */
const jsonLine = ({ event, id, data }: GivenEvent): string =>
  `{"event":${JSON.stringify(event)},"id":${JSON.stringify(id)},"data":${data}}`;

function eventLines({ event, data }: GivenEvent): readonly string[] {
  const now = timeText(isoTime(machineClock.now()));
  switch (event) {
    case "snapshot":
      return parseAnswer<Received<"Jobs">>(data).jobs.map((job) => `${now} ${jobLine(job)}`);
    case "job":
      return [`${now} ${jobLine(parseAnswer(data))}`];
    case "forgotten":
      return [`${now} job ${parseAnswer<{ readonly id: number }>(data).id}: removed from the history`];
    default:
      return [`${now} ${event}: ${data}`];
  }
}
