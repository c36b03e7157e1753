import { clsx } from 'clsx'
import { useId, type InputHTMLAttributes, type ReactElement, type ReactNode, type SelectHTMLAttributes } from 'react'

type Labeled = { readonly label: string; readonly hint?: ReactNode; readonly problem?: string | undefined }

const BOX = 'min-h-9 w-full rounded-field border bg-surface px-3 text-ink disabled:opacity-60'

/** A text field with its label, a hint, and the sentence about its fault. */
export function Field({
  label,
  hint,
  problem,
  className,
  ...rest
}: Labeled & InputHTMLAttributes<HTMLInputElement>): ReactElement {
  const id = useId()
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-problem`]
    .filter((one) => one !== '')
    .join(' ')
  return (
    <div className="mb-5">
      <label htmlFor={id} className="mb-1 block font-strong">
        {label}
      </label>
      <input
        id={id}
        aria-describedby={described === '' ? undefined : described}
        aria-invalid={problem !== undefined}
        {...rest}
        className={clsx(BOX, problem === undefined ? 'border-line-2' : 'border-fail', className)}
      />
      {problem !== undefined && (
        <p id={`${id}-problem`} role="alert" className="mt-1.5 text-body text-fail">
          {problem}
        </p>
      )}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="mt-1.5 text-body text-ink-3">
          {hint}
        </p>
      )}
    </div>
  )
}

/** A choice in a row of filters. */
export function Select({
  label,
  className,
  ...rest
}: { readonly label: string } & SelectHTMLAttributes<HTMLSelectElement>): ReactElement {
  return (
    <select
      aria-label={label}
      {...rest}
      className={clsx(
        'min-h-9 max-w-full min-w-0 rounded-field border border-line-2 bg-surface pr-2 pl-2.5',
        className,
      )}
    />
  )
}

/** A box or a round button with its text; the whole line can be pressed. */
export function Check({
  label,
  ...rest
}: { readonly label: ReactNode } & InputHTMLAttributes<HTMLInputElement>): ReactElement {
  return (
    <label className="flex min-h-8 items-start gap-2.5 py-1.5">
      <input type="checkbox" {...rest} className="mt-0.5 size-4 flex-none accent-(--accent)" />
      <span className="min-w-0 break-words">{label}</span>
    </label>
  )
}
