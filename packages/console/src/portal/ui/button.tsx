import { clsx } from 'clsx'
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactElement } from 'react'
import { go, searchOf, type Route } from '../data/route.ts'

/** `primary`: the main action of the place. `danger`: it cannot be undone. `quiet`: no border. */
type Kind = 'normal' | 'primary' | 'danger' | 'quiet'

const FORM =
  'inline-flex min-h-9 items-center justify-center gap-2 rounded-button border px-3.5 font-strong disabled:opacity-55 [&_svg]:size-4 [&_svg]:flex-none'
const KINDS: Readonly<Record<Kind, string>> = {
  normal: 'border-line-2 bg-surface text-ink hover:bg-sunken',
  primary: 'border-brand-edge bg-brand text-on-brand hover:opacity-90',
  danger: 'border-fail bg-surface text-fail hover:bg-fail-soft',
  quiet: 'border-transparent text-ink-2 hover:bg-hover hover:text-ink',
}

export function Button({
  kind = 'normal',
  className,
  ...rest
}: ButtonHTMLAttributes<HTMLButtonElement> & { readonly kind?: Kind }): ReactElement {
  return <button type="button" {...rest} className={clsx(FORM, KINDS[kind], className)} />
}

type LinkProps = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly to: Route }

/** A link to a part of the portal. */
export function To({ to, onClick, children, ...rest }: LinkProps): ReactElement {
  return (
    <a
      {...rest}
      href={searchOf(to)}
      onClick={(event) => {
        onClick?.(event)
        // The browser handles a new tab or a download.
        if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        go(to)
      }}
    >
      {children}
    </a>
  )
}

/** The same link in the form of a button. */
export function ToButton({ kind = 'normal', className, ...rest }: LinkProps & { readonly kind?: Kind }): ReactElement {
  return <To {...rest} className={clsx(FORM, KINDS[kind], className)} />
}
