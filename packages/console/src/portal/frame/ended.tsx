import type { ReactElement, ReactNode } from 'react'
import type { End, Session } from '../data/session.ts'
import { safeLink } from '../looks/links.ts'
import { Button } from '../ui/button.tsx'
import { Blank, Skeleton } from '../ui/states.tsx'
import type { Shown } from './frame.tsx'

type Texts = { readonly title: string; readonly text: (vendor: string) => ReactNode }

/** Every reason why the page shows no data, with the way on. */
const ENDS: Readonly<Record<End, Texts>> = {
  no_link: {
    title: 'Open this page from the product that you came from',
    text: (vendor) =>
      `You need a link from ${vendor} to see your webhooks. Go back to ${vendor} and open the page again.`,
  },
  expired: {
    title: 'This link has expired',
    text: (vendor) => `Your access has expired or was revoked. Go back to ${vendor} to open the page again.`,
  },
  off: {
    title: 'This page is turned off',
    text: (vendor) => `${vendor} has turned off this page for now. Your destinations still receive their events.`,
  },
  other_customer: {
    title: 'This browser shows another account now',
    text: (vendor) =>
      `Another tab opened this page for a different account. Go back to ${vendor} to open it for this account again.`,
  },
  closed: {
    title: 'This page is closed',
    text: (vendor) => `${vendor} has closed its account. Events are no longer delivered.`,
  },
  unknown_portal: {
    title: 'There is no page at this address',
    text: () => 'The address is wrong, or the page was deleted. Ask the company that gave you the link for a new one.',
  },
  left: {
    title: 'You have signed out',
    text: (vendor) => `This browser no longer has access. Go back to ${vendor} to open the page again.`,
  },
}

type Props = {
  readonly session: Exclude<Session, { at: 'in' }>
  readonly looks: Shown
  readonly again: () => void
}

/** The page without data: before the portal is entered, after the access has ended, and when the server does not answer. */
export function Ended({ session, looks: { branding, name }, again }: Props): ReactElement {
  if (session.at === 'entering') return <Skeleton rows={3} />
  if (session.at === 'failed')
    return (
      <Blank
        alone
        title="The page could not be opened"
        actions={
          <Button kind="primary" onClick={again}>
            Try again
          </Button>
        }
      >
        <p role="alert">{session.error.message}</p>
      </Blank>
    )
  const { title, text } = ENDS[session.end]
  const back = safeLink(branding.return_url)
  return (
    <Blank
      alone
      title={title}
      actions={
        back !== undefined && (
          <a
            href={back}
            target="_top"
            rel="noopener noreferrer"
            className="inline-flex min-h-9 items-center rounded-button border border-brand-edge bg-brand px-3.5 font-strong text-on-brand hover:opacity-90"
          >
            Go back to {name ?? 'the product'}
          </a>
        )
      }
    >
      <p role="status">{text(name ?? 'the company')}</p>
    </Blank>
  )
}
