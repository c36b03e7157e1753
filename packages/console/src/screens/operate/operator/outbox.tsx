import type { RouteAnswer, Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { Part } from '../../../parts/detail.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Ago } from '../../../ui/ago.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Countdown } from '../../../ui/time.tsx'

type Mail = RouteAnswer<Routes['platformHealth']['get']>['health']['mails']['outbox'][number]

/** The emails that nobody got, because there is no mail server. An operator reads one to hand it over. */
export function Outbox({ of }: { readonly of: readonly Mail[] }): ReactElement {
  const [open, setOpen] = useState(false)
  const read = useChange(['platformHealth'], (client, id: string) => client.platformHealth.readMail({ id }))
  return (
    <Part
      title="Outbox"
      text="Set SMTP_URL and MAIL_FROM to have Postroad email its users. Until then, hand these emails to their recipients. The audit log of the installation shows who read one."
    >
      {of.length === 0 && <p className="text-ink-3">No email waits to be handed over.</p>}
      <ul aria-label="Outbox">
        {of.map(({ id, to, subject, created_at, expires_at }) => (
          <li
            key={id}
            className="flex min-h-9 flex-wrap items-center gap-x-3 border-b border-line/55 py-1 last:border-b-0"
          >
            <span className="min-w-0 grow basis-64 break-words">
              {subject} <span className="text-ink-3">for {to}</span>
            </span>
            <span className="text-ink-3">
              <Ago at={created_at} />, expires <Countdown to={expires_at} />
            </span>
            <Button
              aria-label={`Read “${subject}” for ${to}`}
              disabled={read.isPending}
              onClick={() => read.mutate(id, { onSuccess: () => setOpen(true) })}
            >
              Read
            </Button>
          </li>
        ))}
      </ul>
      <RefusedLine error={read.error} />
      {open && read.data !== undefined && <Letter of={read.data.mail} onClose={() => setOpen(false)} />}
    </Part>
  )
}

type Read = RouteAnswer<Routes['platformHealth']['readMail']>['mail']

function Letter({
  of: { to, subject, text, link },
  onClose,
}: {
  readonly of: Read
  readonly onClose: () => void
}): ReactElement {
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={subject}
      lead={`For ${to}`}
      actions={
        <Button kind="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      {link !== null && (
        <SecretOnce label="Link" secret={link} note={`Give it to ${to} only: whoever opens it acts as this person.`} />
      )}
      <pre className="mono text-data break-words whitespace-pre-wrap">{text}</pre>
    </Dialog>
  )
}
