import { LIMITS, routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Destination } from '../../../data/lists.ts'
import { usePlace, useRefusal } from '../../../data/place.ts'
import { CodeBlock } from '../../../parts/code-block.tsx'
import { CopyMeta, Facts, Part } from '../../../parts/detail.tsx'
import { Overlap } from '../../../parts/overlap.tsx'
import { Rotate } from '../../../parts/rotate.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Button } from '../../../ui/button.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Countdown } from '../../../ui/time.tsx'
import { SNIPPETS, type Language } from '../../../ui/verify-snippets.ts'

const HEADERS = {
  both: 'Service-Signature and webhook-signature',
  standard: 'webhook-signature',
  service: 'Service-Signature',
} as const

/** The signing secret of a destination, the code that verifies it, and its rotation without a gap. */
export function SigningTab({ destination }: { readonly destination: Destination }): ReactElement {
  const [hours, setHours] = useState<number>(LIMITS.rotationOverlapHoursDefault)
  const [language, setLanguage] = useState<Language>('Node')
  const refusal = useRefusal(routes.destinations.revealSecret)
  const may = refusal === undefined
  const rotateRefusal = useRefusal(routes.destinations.rotateSecret)
  const reveal = useChange([], (client) => client.destinations.revealSecret({ id: destination.id }))
  const rotate = useChange(['destinations'], (client, mayEnd: boolean) =>
    client.destinations.rotateSecret({ id: destination.id, overlap_hours: hours, end_overlap: mayEnd }),
  )
  const until = destination.previous_secret_expires_at
  return (
    <>
      <Part
        title="Signing secret"
        text="The secret signs every delivery. Only a signed-in member can reveal it. API keys and agents cannot. The audit log records each reveal."
        beside={
          <Button
            disabled={!may || reveal.isPending}
            title={may ? 'Shows the secret here' : refusal}
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
            note="Store it with your receiver’s secrets."
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
                  also signs, expires <Countdown to={until} />
                </>
              ),
            ],
          ]}
        />
      </Part>
      <PublicKeys destination={destination} />
      <Part
        title="Verify deliveries in your receiver"
        text="Verify the raw body before you parse it. The svix and standardwebhooks libraries do the same."
      >
        <CodeBlock label="How to verify a delivery" of={SNIPPETS} at={language} go={setLanguage} />
      </Part>
      <Part
        title="Rotate the secret"
        text="Deliveries are signed with both secrets during the overlap, so you can update your receiver at any time."
      >
        <Overlap hours={hours} change={setHours} what="secret" />
        {rotate.data !== undefined && (
          <SecretOnce
            label="New signing secret"
            secret={rotate.data.signing_secret}
            note="The secret signs deliveries now."
          />
        )}
        <Rotate
          what="secret"
          hours={hours}
          until={until}
          refused={rotateRefusal}
          rotate={rotate}
          onRotated={reveal.reset}
        />
      </Part>
    </>
  )
}

/** The keys with which a receiver verifies `v1a`, and the address where it can fetch them. */
function PublicKeys({ destination: { id, public_keys } }: { readonly destination: Destination }): ReactElement | null {
  const { project } = usePlace()
  if (public_keys.length === 0) return null
  const url = `${location.origin}/.well-known/webhook-keys/${project.id}/${id}`
  return (
    <Part
      title="Public keys"
      text="Your receiver verifies v1a signatures with the public key, which is no secret. The key set is a JWK set that anyone may fetch."
    >
      <Facts
        of={[
          ...public_keys.map(
            ({ key, expires_at }) =>
              [
                expires_at === null ? 'Public key' : 'Previous key',
                <>
                  <CopyMeta text={key} label="Copy the public key" />
                  {expires_at !== null && (
                    <div>
                      also signs, expires <Countdown to={expires_at} />
                    </div>
                  )}
                </>,
              ] as const,
          ),
          ['Key set', <CopyMeta key="set" text={url} label="Copy the address of the key set" />],
        ]}
      />
    </Part>
  )
}
