import type { ReactElement } from 'react'
import { ButtonLink } from '../../parts/button-link.tsx'
import { Empty } from '../../ui/states.tsx'

export function NowhereInside(): ReactElement {
  return (
    <Empty
      alone
      title="There is no page at this address"
      actions={<ButtonLink screen="events">Go to Events</ButtonLink>}
    >
      Check the address. Endpoint URLs accept only POST requests.
    </Empty>
  )
}

export function NowhereOutside(): ReactElement {
  return (
    <main className="m-2 h-[calc(100%-16px)] rounded-page border border-line bg-surface">
      <Empty alone title="There is no page at this address">
        Check the address, or{' '}
        <a className="text-accent underline" href="/">
          go to the start page
        </a>
        .
      </Empty>
    </main>
  )
}
