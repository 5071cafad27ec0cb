import type { ViewProps } from "../../view.ts";
import { EditSchedule, NewSchedule } from "./schedule-form.tsx";
import { ScheduleList } from "./schedule-list.tsx";
import { SchedulePage } from "./schedule-page.tsx";

/**
 * The list of schedules, one schedule (`/schedules/NAME`), its form (`…/edit`) or the form of a new schedule
 * (`/schedules/new`).
 */
export function View({ segments: [name, part] }: ViewProps) {
  if (name === undefined) return <ScheduleList />;
  if (name === "new" && part === undefined) return <NewSchedule />;
  return part === "edit" ? <EditSchedule key={name} name={name} /> : <SchedulePage key={name} name={name} />;
}
