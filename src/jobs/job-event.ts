import { createHash } from "node:crypto";

/** What webhooks are told of a job: that it was accepted, is at work, was paused, or how it ended. */
export const JOB_MOMENTS = ["pending", "running", "paused", "done", "done_with_failures", "aborted"] as const;
export type JobMoment = (typeof JOB_MOMENTS)[number];
/** Those of the end. */
export const ENDS: readonly JobMoment[] = ["done", "done_with_failures", "aborted"];

/** An address that is told of jobs. */
export interface Webhook {
  /** Names it in the database, without its address, which may hold a key. */
  readonly id: string;
  /** Without credentials. */
  readonly url: string;
  /** Of an Authorization header, where the address had credentials. */
  readonly authorization?: string;
  readonly events: readonly JobMoment[];
  /** null: all. */
  readonly layers: readonly string[] | null;
  /** Signs what is sent. */
  readonly secret: string;
}

/** The same for the same address, over restarts. */
export const webhookId = (url: string): string => createHash("sha256").update(url).digest("base64url");

/** What logs may say of where it is. */
export const webhookOrigin = ({ url }: Webhook): string => new URL(url).origin;
