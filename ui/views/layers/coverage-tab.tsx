import { Lazy } from "../../components/lazy.tsx";
import type { TabProps } from "./layer-page.tsx";

const load = async () => (await import("../coverage/coverage.tsx")).Coverage;

/** The coverage of the layer. */
export const CoverageTab = ({ layer }: TabProps) => <Lazy load={load} props={{ layer }} />;
