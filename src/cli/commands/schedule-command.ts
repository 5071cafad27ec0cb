import { Command, Option } from "commander";
import { type AnswerFlags, print, printAnswer, requestAndPrint, serverCommand } from "../client/answer.ts";
import { type FollowFlags, printMade } from "../client/follow-job.ts";
import { ServerClient } from "../client/server-client.ts";
import { showSchedule, showSchedules } from "../output/schedule-text.ts";
import { addConfirmFlag, type ConfirmFlags, requestConfirmed } from "./confirm.ts";
import {
  addFieldFlags,
  addRangeFlags,
  addRateFlags,
  addRenderFlags,
  type JobFlags,
  jobRequest,
  LAYERS,
  parseWindowFlag,
  type WindowFlag,
} from "./job-flags.ts";
import { supersedeOption, threadsOption, timeZoneOption, waitOption } from "./shared-options.ts";

const SCHEDULES = "/api/v1/schedules";
const pathOf = (name: string, action = ""): string => `${SCHEDULES}/${encodeURIComponent(name)}${action}`;

interface AddFlags extends JobFlags, ConfirmFlags, AnswerFlags {
  readonly cron: string;
  readonly type: "seed" | "reseed" | "truncate";
  readonly missed?: "skip" | "run_once";
  readonly window?: WindowFlag;
  readonly replace?: boolean;
}

/** `nuthatch schedule …`: manages the recurring jobs of a running server. */
export function scheduleCommand(): Command {
  const list = serverCommand("list", "schedules with their next and last run; of one all runs that are remembered")
    .argument("[schedule]")
    .action((name: string | undefined, flags: AnswerFlags) =>
      name === undefined
        ? requestAndPrint(flags, showSchedules, "GET", SCHEDULES)
        : requestAndPrint(flags, showSchedule, "GET", pathOf(name)),
    );

  const adding = serverCommand("add", "makes jobs of layers again and again")
    .argument("<name>")
    .argument("<layer...>", LAYERS);
  const add = addConfirmFlag(addRateFlags(addRenderFlags(addFieldFlags(addRangeFlags(adding), "reseeds"))))
    .requiredOption("--cron <cron>", 'minute, hour, day, month, weekday, such as "30 2 * * *", or @daily')
    .addOption(timeZoneOption("by whose clocks"))
    .addOption(new Option("--type <type>", "what its jobs do").choices(["seed", "reseed", "truncate"]).default("seed"))
    .addOption(threadsOption("a job"))
    .addOption(supersedeOption("a job"))
    .addOption(
      new Option("--missed <rule>", "what becomes of times that pass while the server is down (run_once)").choices([
        "skip",
        "run_once",
      ]),
    )
    .option("--window <start-end>", "when its jobs may work, such as 22:00-06:00", parseWindowFlag)
    .option("--replace", "a schedule of this name, if there is one")
    .action(async (name: string, layers: readonly string[], flags: AddFlags) => {
      const { cron, timeZone, type, missed, window, replace } = flags;
      const job = jobRequest(type, layers, flags);
      const schedule = { name, cron, timeZone, missed, window };
      const client = new ServerClient(flags);
      const [method, path] = replace === true ? (["PUT", pathOf(name)] as const) : (["POST", SCHEDULES] as const);
      const text = await requestConfirmed(
        (confirm) => client.request(method, path, { document: { ...schedule, job: { ...job, ...confirm } } }),
        flags,
      );
      printAnswer(text, flags, showSchedule);
    });

  const remove = serverCommand("remove", "makes no more jobs; those it has made stay")
    .argument("<schedule>")
    .action(async (name: string, flags: AnswerFlags) => {
      await new ServerClient(flags).request("DELETE", pathOf(name));
      if (flags.json !== true) print(`${name} is removed.\n`);
    });

  const run = serverCommand("run", "makes its jobs now")
    .argument("<schedule>")
    .addOption(waitOption())
    .action(async (name: string, flags: FollowFlags) => {
      const client = new ServerClient(flags);
      await printMade(await client.request("POST", pathOf(name, "/run")), flags, client);
    });

  return new Command("schedule")
    .description("jobs that a running server makes again and again")
    .addCommand(list)
    .addCommand(add)
    .addCommand(remove)
    .addCommand(pauseOrResumeCommand("pause", "makes no jobs until it is resumed, over restarts too"))
    .addCommand(pauseOrResumeCommand("resume", "goes on with the next time"))
    .addCommand(run);
}

const pauseOrResumeCommand = (action: "pause" | "resume", description: string): Command =>
  serverCommand(action, description)
    .argument("<schedule>")
    .action((name: string, flags: AnswerFlags) =>
      requestAndPrint(flags, showSchedule, "POST", pathOf(name, `/${action}`)),
    );
