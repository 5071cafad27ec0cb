import { FeedStore } from "../../feed/feed-store.ts";
import { Feeds } from "../../feed/feeds.ts";
import type { JobRunner } from "../../jobs/job-runner.ts";
import type { JobCounter } from "../../plan/job/job-counter.ts";
import type { BuildContext } from "../coordinator-parts.ts";
import type { ScheduleParts } from "./build-schedules.ts";

/** Builds the polling of feeds. The first poll loads the code that reads feeds over HTTP. */
export const buildFeeds = (
  context: BuildContext,
  { runner, windows }: Pick<ScheduleParts, "windows"> & { readonly runner: JobRunner },
  counter: JobCounter,
): Feeds =>
  new Feeds({
    ...context,
    store: new FeedStore(context.db),
    runner,
    windows,
    counter,
    options: context.jobOptions,
    persist: (also) => context.state.write(also),
    fetch: async (url, source, signal) =>
      (await import("../../feed/fetch-feed.ts")).fetchFeed(context.clock, url, source, signal),
  });
