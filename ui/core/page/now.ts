import { useEffect, useState } from "preact/hooks";

const TICK_MS = 1_000;

/** Returns the browser's time, ms since 1970, and renders the component again each second. */
export function useNow(): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return nowMs;
}
