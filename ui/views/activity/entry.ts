import { decodeSegment, pathOf } from "../../core/page/router.ts";
import type { Doc } from "../../core/server/api.ts";
import type { TextKey } from "../../core/text/i18n.ts";

export type Entry = Doc<"ActivityEntry">;

interface Kind {
  /** Matches the method and the end of the path. Its group is the name of the object. */
  readonly pattern: RegExp;
  readonly text: TextKey;
  /** Returns the address of the view of the named object. */
  readonly view?: (name: string) => string;
}

const job = (id: string): string => pathOf("jobs", id);
const schedule = (name: string): string => pathOf("schedules", name);
const layer = (name: string): string => pathOf("layers", name);

/** The kinds of requests. The first matching one counts. */
const KINDS: readonly Kind[] = [
  { pattern: /^POST .*\/api\/v1\/jobs$/, text: "activity.job.created" },
  { pattern: /^POST .*\/jobs\/(\d+)\/cancel$/, text: "activity.job.cancelled", view: job },
  { pattern: /^POST .*\/jobs\/(\d+)\/pause$/, text: "activity.job.paused", view: job },
  { pattern: /^POST .*\/jobs\/(\d+)\/resume$/, text: "activity.job.resumed", view: job },
  { pattern: /^POST .*\/jobs\/(\d+)\/retry$/, text: "activity.job.retried", view: job },
  { pattern: /^PATCH .*\/jobs\/(\d+)$/, text: "activity.job.changed", view: job },
  { pattern: /^DELETE .*\/jobs\/(\d+)$/, text: "activity.job.forgotten" },
  { pattern: /^POST .*\/schedules$/, text: "activity.schedule.created" },
  { pattern: /^(?:PUT|PATCH) .*\/schedules\/([^/]+)$/, text: "activity.schedule.changed", view: schedule },
  { pattern: /^DELETE .*\/schedules\/([^/]+)$/, text: "activity.schedule.removed" },
  { pattern: /^POST .*\/schedules\/([^/]+)\/pause$/, text: "activity.schedule.paused", view: schedule },
  { pattern: /^POST .*\/schedules\/([^/]+)\/resume$/, text: "activity.schedule.resumed", view: schedule },
  { pattern: /^POST .*\/schedules\/([^/]+)\/run$/, text: "activity.schedule.run", view: schedule },
  { pattern: /^POST .*\/truncations\/(\d+)\/undo$/, text: "activity.truncation.undone", view: () => "/truncations" },
  { pattern: /^POST .*\/(?:truncations|masstruncate)$/, text: "activity.truncation", view: () => "/truncations" },
  { pattern: /^POST .*\/rest\/seed\/(.+?)(?:\.(?:json|xml))?$/, text: "activity.seed", view: layer },
  { pattern: /^POST .*\/rest\/seed$/, text: "activity.kill" },
  { pattern: /^POST .*\/layers\/([^/]+)\/test$/, text: "activity.layer.tested", view: layer },
  { pattern: /^(?:PUT|PATCH|POST) .*quota(?:\.\w+)?$/, text: "activity.quota", view: () => "/quota" },
  { pattern: /^POST .*\/session$/, text: "activity.signIn" },
  { pattern: /^DELETE .*\/session$/, text: "activity.signOut" },
  { pattern: /^\w+ .*\/users(?:\/([^/]+))?$/, text: "activity.users", view: () => "/settings" },
  { pattern: /^\w+ .*\/tokens(?:\/(\d+))?$/, text: "activity.tokens", view: () => "/settings" },
  { pattern: /^POST .*\/reload$/, text: "activity.reload", view: () => "/settings" },
  { pattern: /^POST .*\/upstreams\/([^/]+)\/probe$/, text: "activity.upstream", view: () => "/upstreams" },
];

export interface Description {
  readonly text: TextKey | undefined;
  /** The name of the object in the path, if it has one. */
  readonly name: string | undefined;
  /** The path of its view in the console. */
  readonly to: string | undefined;
}

/** Describes the action of a request. */
export function describe({ method, path, jobId }: Entry): Description {
  const made = jobId === null ? undefined : { name: `#${jobId}`, to: job(String(jobId)) };
  for (const { pattern, text, view } of KINDS) {
    const found = pattern.exec(`${method} ${path}`);
    if (found === null) continue;
    const name = found[1] === undefined ? undefined : decodeSegment(found[1]);
    return {
      text,
      name: name ?? made?.name,
      to: (name === undefined ? undefined : view?.(name)) ?? made?.to ?? view?.(""),
    };
  }
  return { text: undefined, name: made?.name, to: made?.to };
}
