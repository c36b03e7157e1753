import { clsx } from 'clsx'
import type { ButtonHTMLAttributes, ReactElement, ReactNode } from 'react'

type Props = ButtonHTMLAttributes<HTMLButtonElement> & {
  /** `primary`: the main action of the place. `danger`: it cannot be undone. `quiet`: no border. */
  readonly kind?: 'normal' | 'primary' | 'danger' | 'quiet'
  /** The key for the same action, shown inside. */
  readonly hotkey?: string | undefined
  readonly icon?: ReactNode
}

const KINDS = {
  normal: 'border-line-2 bg-surface text-ink hover:bg-sunken [&_svg]:text-ink-2',
  primary: 'border-ink bg-ink text-on-ink hover:opacity-90',
  danger: 'border-fail bg-surface text-fail hover:bg-fail-soft',
  quiet: 'border-transparent text-ink-2 hover:bg-hover hover:text-ink',
} as const

export function Button({ kind = 'normal', hotkey, icon, children, className, ...rest }: Props): ReactElement {
  return (
    <button
      type="button"
      {...rest}
      className={clsx(
        'inline-flex h-7 items-center gap-[7px] rounded-button border px-2.5 font-control whitespace-nowrap disabled:opacity-60 [&_svg]:size-3.5',
        KINDS[kind],
        className,
      )}
    >
      {icon}
      {children}
      {hotkey !== undefined && (
        <kbd
          className={clsx(
            'mono -mr-1 min-w-[18px] rounded-chip border px-1 text-center text-axis leading-4 max-md:hidden',
            kind === 'primary' ? 'border-on-ink/30 text-on-ink/75' : 'border-line-2 bg-surface text-ink-3',
          )}
        >
          {hotkey}
        </kbd>
      )}
    </button>
  )
}

/** A button with only an icon; `label` names its action. */
export function IconButton({
  label,
  className,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { readonly label: string }): ReactElement {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={clsx(
        'grid size-7 flex-none place-items-center rounded-button text-ink-3 hover:bg-hover hover:text-ink disabled:opacity-40 [&_svg]:size-4',
        className,
      )}
    />
  )
}

/** A key. A narrow window has no room for keys, except on the page about them. */
export function Kbd({
  children,
  alsoOnPhone = false,
}: {
  readonly children: ReactNode
  readonly alsoOnPhone?: boolean
}): ReactElement {
  return (
    <kbd
      className={clsx(
        'mono inline-block min-w-[18px] rounded-chip border border-line-2 bg-surface px-1 text-center text-axis leading-4 text-ink-3',
        !alsoOnPhone && 'max-md:hidden',
      )}
    >
      {children}
    </kbd>
  )
}
