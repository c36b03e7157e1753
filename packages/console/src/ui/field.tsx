import {
  useId,
  type InputHTMLAttributes,
  type ReactElement,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
} from 'react'

type Labeled = { readonly label: string; readonly hint?: ReactNode }

const BOX = 'w-full rounded-field border border-line-2 bg-surface px-2.5 text-ink disabled:opacity-60'

function Around({
  id,
  label,
  hint,
  children,
}: Labeled & { readonly id: string; readonly children: ReactNode }): ReactElement {
  return (
    <div className="mb-3.5">
      <label htmlFor={id} className="mb-1 block font-control">
        {label}
      </label>
      {children}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1 text-data text-ink-3">
          {hint}
        </p>
      )}
    </div>
  )
}

export function Field({
  label,
  hint,
  className = '',
  ...rest
}: Labeled & InputHTMLAttributes<HTMLInputElement>): ReactElement {
  const id = useId()
  return (
    <Around id={id} label={label} hint={hint}>
      <input
        id={id}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        {...rest}
        className={`${BOX} h-8 ${className}`}
      />
    </Around>
  )
}

export function TextArea({
  label,
  hint,
  className = '',
  ...rest
}: Labeled & TextareaHTMLAttributes<HTMLTextAreaElement>): ReactElement {
  const id = useId()
  return (
    <Around id={id} label={label} hint={hint}>
      <textarea
        id={id}
        spellCheck={false}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        {...rest}
        className={`${BOX} mono block py-2 text-data ${className}`}
      />
    </Around>
  )
}

export function Select({
  label,
  hint,
  children,
  ...rest
}: Labeled & SelectHTMLAttributes<HTMLSelectElement>): ReactElement {
  const id = useId()
  return (
    <Around id={id} label={label} hint={hint}>
      <select
        id={id}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        {...rest}
        className={`${BOX} h-8`}
      >
        {children}
      </select>
    </Around>
  )
}

export function Check({
  label,
  ...rest
}: { readonly label: ReactNode } & InputHTMLAttributes<HTMLInputElement>): ReactElement {
  return (
    <label className="flex min-h-6 items-start gap-2">
      <input type="checkbox" {...rest} className="mt-0.5 size-4 flex-none accent-(--accent)" />
      <span className="min-w-0">{label}</span>
    </label>
  )
}
