interface CheckboxProps {
  readonly label: string;
  readonly title?: string;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}

/** A labelled checkbox. */
export const Checkbox = ({ label, title, isChecked, onChange }: CheckboxProps) => (
  <label class="choice" title={title}>
    <input type="checkbox" checked={isChecked} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
    {label}
  </label>
);
