import { createHash } from "node:crypto";
import { JOB_OUTCOMES } from "../plan/job/job-request.ts";

/** The events of a job that webhooks receive: accepted, running, paused, and the outcomes. */
export const JOB_MOMENTS = ["pending", "running", "paused", ...JOB_OUTCOMES] as const;
export type JobMoment = (typeof JOB_MOMENTS)[number];
/** The events that end a job. */
export const ENDS: readonly JobMoment[] = JOB_OUTCOMES;

/** An address that receives the events of jobs. */
export interface Webhook {
  /** Identifies the webhook in the database without its address, which may contain a key. */
  readonly id: string;
  /** The address, without credentials. */
  readonly url: string;
  /** The value of the Authorization header, if the address had credentials. */
  readonly authorization?: string;
  readonly events: readonly JobMoment[];
  /** The layers whose jobs are reported. Null means all layers. */
  readonly layers: readonly string[] | null;
  /** The key that signs the messages. */
  readonly secret: string;
}

/** Returns an id that stays the same for an address after a restart. */
export const webhookId = (url: string): string => createHash("sha256").update(url).digest("base64url");

/** Returns the part of the address that logs may contain. */
export const webhookOrigin = ({ url }: Webhook): string => new URL(url).origin;
