import { LIMITS, routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Destination } from '../../../data/lists.ts'
import { useMay } from '../../../data/place.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Overlap } from '../../../parts/overlap.tsx'
import { Rotate } from '../../../parts/rotate.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Button } from '../../../ui/button.tsx'
import { needs, RefusedLine } from '../../../ui/states.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { SNIPPETS, type Language } from './snippets.ts'

const HEADERS = {
  both: 'Service-Signature and webhook-signature',
  standard: 'webhook-signature',
  service: 'Service-Signature',
} as const

/** The signing secret of a destination, the code that verifies it, and its rotation without a gap. */
export function SigningTab({ destination }: { readonly destination: Destination }): ReactElement {
  const [hours, setHours] = useState<number>(LIMITS.rotationOverlapHoursDefault)
  const [language, setLanguage] = useState<Language>('Node')
  const may = useMay(routes.destinations.revealSecret)
  const reveal = useChange([], (client) => client.destinations.revealSecret({ id: destination.id }))
  const rotate = useChange(['destinations'], (client, mayEnd: boolean) =>
    client.destinations.rotateSecret({ id: destination.id, overlap_hours: hours, end_overlap: mayEnd }),
  )
  const until = destination.previous_secret_expires_at
  return (
    <>
      <Part
        title="Signing secret"
        text="It signs every delivery. Only a signed-in person can reveal it, never a key or an agent, and the audit log records that."
        beside={
          <Button
            disabled={!may || reveal.isPending}
            title={may ? 'Shows the secret here' : needs(routes.destinations.revealSecret.role)}
            onClick={() => (reveal.data === undefined ? reveal.mutate(undefined) : reveal.reset())}
          >
            {reveal.data === undefined ? 'Reveal' : 'Hide'}
          </Button>
        }
      >
        {reveal.data !== undefined && (
          <SecretOnce
            label="Signing secret"
            secret={reveal.data.signing_secret}
            note="Put it where your receiver stores its secrets."
          />
        )}
        <RefusedLine error={reveal.error} />
        <Facts
          of={[
            ['Headers', HEADERS[destination.signing.header]],
            [
              'Previous secret',
              until === null ? (
                'none'
              ) : (
                <>
                  also signs, ends <Countdown to={until} />
                </>
              ),
            ],
          ]}
        />
      </Part>
      <Part
        title="Verify it in your receiver"
        text="Verify the body as it arrived, before it is parsed. The svix and standardwebhooks libraries do the same."
      >
        <CodeBlock label="How to verify a delivery" of={SNIPPETS} at={language} go={setLanguage} />
      </Part>
      <Part
        title="Rotate the secret"
        text="While both secrets sign, your receiver may know either of them. You can change it at any moment."
      >
        <Overlap hours={hours} change={setHours} what="secret" />
        {rotate.data !== undefined && (
          <SecretOnce label="New signing secret" secret={rotate.data.signing_secret} note="It signs deliveries now." />
        )}
        <Rotate
          what="secret"
          hours={hours}
          until={until}
          refused={may ? undefined : needs(routes.destinations.rotateSecret.role)}
          rotate={rotate}
          onRotated={reveal.reset}
        />
      </Part>
    </>
  )
}
