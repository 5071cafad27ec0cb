import type { Doc } from "../../core/api.ts";
import { t } from "../../core/i18n.ts";

type Quota = Doc<"Quota">;
type Units = Quota["globalQuota"]["units"];
type Policy = Quota["globalExpirationPolicyName"];

const UNITS: readonly Units[] = ["B", "KiB", "MiB", "GiB", "TiB"];
const POLICIES: readonly Policy[] = ["LRU", "LFU"];

interface SelectProps<T> {
  readonly value: T;
  readonly change: (value: T) => void;
  readonly id?: string;
  /** The name of the control, where no label has its id. */
  readonly label?: string;
}

export const UnitsSelect = (props: SelectProps<Units>) => <Select {...props} values={UNITS} />;

/** `isShort`: without the explanation of each policy. */
export const PolicySelect = ({ isShort = false, ...props }: SelectProps<Policy> & { readonly isShort?: boolean }) => (
  <Select {...props} values={POLICIES} textOf={(policy) => (isShort ? policy : t(`quota.policy.${policy}`))} />
);

function Select<T extends string>({
  value,
  change,
  id,
  label,
  values,
  textOf = (one) => one,
}: SelectProps<T> & { readonly values: readonly T[]; readonly textOf?: (value: T) => string }) {
  return (
    <select
      id={id}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = values.find((one) => one === currentTarget.value);
        if (chosen !== undefined) change(chosen);
      }}
    >
      {values.map((one) => (
        <option key={one} value={one}>
          {textOf(one)}
        </option>
      ))}
    </select>
  );
}
