import type { ComponentType } from "preact";
import { useLoadedOnce } from "../core/server/loaded-once.ts";
import { LoadingNote, ProblemBox } from "./parts.tsx";

interface LazyProps<P> {
  /** Loads the component. Must be the same function each time, so that the component is loaded once. */
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}

/** A part of a view whose files are loaded when it is first shown. */
export function Lazy<P extends object>({ load, props }: LazyProps<P>) {
  const { value: Part, problem } = useLoadedOnce(load, load);
  if (problem !== undefined) return <ProblemBox problem={problem} />;
  return Part === undefined ? <LoadingNote /> : <Part {...props} />;
}
