import { dateTime, relative } from "../core/text/format.ts";

/** A time relative to now, or a text about it. The title is the time. */
export const Age = ({ at, text = relative(at) }: { readonly at: string; readonly text?: string }) => (
  <time dateTime={at} title={dateTime(at)}>
    {text}
  </time>
);
