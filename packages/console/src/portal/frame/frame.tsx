import { useEffect, useState, type ReactElement, type ReactNode } from 'react'
import type { Branding } from '../data/server.ts'
import type { Session } from '../data/session.ts'
import { safeLink, safePicture } from '../looks/links.ts'
import type { ThemeChoice, Theming } from '../looks/theme.ts'
import { Select } from '../ui/field.tsx'

/** The looks that the page shows; the name is unknown until the server has answered. */
export type Shown = { readonly branding: Branding; readonly name: string | undefined }

type Props = {
  readonly looks: Shown
  readonly theming: Theming
  readonly session: Session
  /** Undefined in a frame: the page around it decides who is in. */
  readonly onLeave: (() => void) | undefined
  readonly children: ReactNode
}

/** The page around every view: the company at the top, and the help, the theme and the way out at the foot. */
export function Frame({ looks, theming, session, onLeave, children }: Props): ReactElement {
  const { branding, name } = looks
  const support = safeLink(branding.support_url)
  const back = safeLink(branding.return_url)
  const customer = session.at === 'in' ? session.me.customer : undefined
  useEffect(() => {
    document.title = name === undefined ? 'Webhooks' : `${name} webhooks`
  }, [name])
  return (
    <div className="mx-auto flex w-full max-w-[1040px] flex-col px-4 pb-6 sm:px-6">
      <header className="flex min-h-16 flex-wrap items-center gap-x-4 gap-y-1 py-3">
        <Company looks={looks} isDark={theming.theme === 'dark'} />
        {customer !== undefined && (
          <span className="ml-auto max-w-full min-w-0 truncate text-ink-3" title={customer.customer_id}>
            {customer.name ?? customer.customer_id}
          </span>
        )}
      </header>
      <main className="min-h-60">{children}</main>
      <footer className="mt-8 flex min-h-9 flex-wrap items-center gap-x-5 gap-y-2 border-t border-line pt-4 text-body text-ink-3">
        {back !== undefined && name !== undefined && <OutLink href={back}>Back to {name}</OutLink>}
        {support !== undefined && <OutLink href={support}>Get help</OutLink>}
        {session.at === 'in' && onLeave !== undefined && (
          <button type="button" className="min-h-6 underline-offset-2 hover:text-ink hover:underline" onClick={onLeave}>
            Sign out
          </button>
        )}
        <span className="ml-auto flex flex-wrap items-center gap-x-4 gap-y-2">
          {branding.powered_by && <span>Webhooks by Postroad</span>}
          {theming.choose !== undefined && <ThemeChoiceSelect theming={theming} choose={theming.choose} />}
        </span>
      </footer>
    </div>
  )
}

function OutLink({ href, children }: { readonly href: string; readonly children: ReactNode }): ReactElement {
  return (
    <a
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      className="inline-flex min-h-6 items-center underline-offset-2 hover:text-ink hover:underline"
    >
      {children}
    </a>
  )
}

function ThemeChoiceSelect({
  theming,
  choose,
}: {
  readonly theming: Theming
  readonly choose: (choice: ThemeChoice) => void
}): ReactElement {
  return (
    <Select
      label="Theme"
      className="text-body"
      value={theming.choice}
      onChange={({ currentTarget: { value } }) => choose(value === 'light' || value === 'dark' ? value : 'system')}
    >
      <option value="system">System theme</option>
      <option value="light">Light</option>
      <option value="dark">Dark</option>
    </Select>
  )
}

/** The logo of the company, or its initial, and its name. A logo that does not load is left out. */
function Company({
  looks: { branding, name },
  isDark,
}: {
  readonly looks: Shown
  readonly isDark: boolean
}): ReactElement {
  const logo = safePicture((isDark ? branding.logo_dark : null) ?? branding.logo)
  const [broken, setBroken] = useState<string | undefined>()
  const isShown = logo !== undefined && logo !== broken
  return (
    <div className="flex min-w-0 items-center gap-3">
      {isShown ? (
        <img
          src={logo}
          alt=""
          referrerPolicy="no-referrer"
          className="max-h-8 max-w-[180px] object-contain"
          onError={() => setBroken(logo)}
        />
      ) : (
        name !== undefined && (
          <span
            aria-hidden
            className="grid size-8 flex-none place-items-center rounded-button border border-brand-edge bg-brand font-title text-on-brand"
          >
            {name.trim().slice(0, 1).toUpperCase()}
          </span>
        )
      )}
      <span className="min-w-0 truncate text-page">{name ?? ' '}</span>
    </div>
  )
}
