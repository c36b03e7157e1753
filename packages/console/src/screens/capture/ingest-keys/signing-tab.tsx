import { LIMITS, routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { IngestKey } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { Facts, Part } from '../../../parts/detail.tsx'
import { Overlap } from '../../../parts/overlap.tsx'
import { Rotate } from '../../../parts/rotate.tsx'
import { SecretOnce } from '../../../parts/secret-once.tsx'
import { Unsaved } from '../../../parts/unsaved.tsx'
import { Button } from '../../../ui/button.tsx'
import { Field } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Countdown } from '../../../ui/time.tsx'

/** The signing secret, and whether events must have a signature besides the key. */
export function SigningTab({
  ingestKey: { id, require_signature, previous_signing_secret_expires_at: until },
}: {
  readonly ingestKey: IngestKey
}): ReactElement {
  const refusal = useRefusal(routes.ingestKeys.update)
  const may = refusal === undefined
  const refused = refusal
  const change = useChange(['ingestKeys'], (client) =>
    client.ingestKeys.update({ id, require_signature: !require_signature }),
  )
  const minted = change.data?.signing_secret
  return (
    <>
      <Part
        title="Signature"
        text="The key is part of the URL, and proxies and browsers log URLs. With a signature, the URL alone is not enough to send events."
        beside={
          <Button
            kind={require_signature ? 'danger' : 'normal'}
            disabled={!may || change.isPending}
            title={refused}
            onClick={() => change.mutate(undefined)}
          >
            {require_signature ? 'Stop requiring signatures' : 'Require a signature'}
          </Button>
        }
      >
        {minted !== undefined && require_signature && (
          <SecretOnce
            label="Signing secret"
            secret={minted}
            note="Postroad encrypts the secret and shows it once. Postroad now rejects events without a signature."
          />
        )}
        <RefusedLine error={change.error} />
        <Facts
          of={[
            ['Required', require_signature ? 'yes; unsigned events get 401' : 'no'],
            ...(require_signature
              ? ([
                  [
                    'Header',
                    <code key="header" className="mono text-data">
                      X-Service-Signature: t=&lt;unix seconds&gt;,v1=&lt;hex&gt;
                    </code>,
                  ],
                  [
                    'Signed text',
                    <>
                      HMAC-SHA256 over{' '}
                      <code key="over" className="mono text-data">
                        &lt;t&gt;.&lt;body&gt;
                      </code>
                      , at most {LIMITS.toleranceSecondsDefault} s old
                    </>,
                  ],
                  [
                    'Previous secret',
                    until === null ? (
                      'none'
                    ) : (
                      <>
                        also valid, expires <Countdown to={until} />
                      </>
                    ),
                  ],
                ] as const)
              : []),
          ]}
        />
      </Part>
      {require_signature && <RotatePart id={id} until={until} refused={refused} />}
    </>
  )
}

function RotatePart({
  id,
  until,
  refused,
}: {
  readonly id: string
  readonly until: string | null
  readonly refused: string | undefined
}): ReactElement {
  const [hours, setHours] = useState<number>(LIMITS.rotationOverlapHoursDefault)
  const [secret, setSecret] = useState('')
  const rotate = useChange(['ingestKeys'], (client, mayEnd: boolean) =>
    client.ingestKeys.rotateSigningSecret({
      id,
      overlap_hours: hours,
      end_overlap: mayEnd,
      ...(secret === '' ? {} : { secret }),
    }),
  )
  const minted = rotate.data?.signing_secret
  return (
    <Part
      title="Rotate the secret"
      text="You can update the sender at any time while both secrets are valid. The key stays."
    >
      <Overlap hours={hours} change={setHours} what="secret" />
      <Field
        label="New secret"
        type="password"
        autoComplete="new-password"
        value={secret}
        onChange={({ target }) => setSecret(target.value)}
        hint="Optional. Leave empty to generate a secret, which is shown once."
      />
      {minted !== undefined && (
        <SecretOnce
          label="New signing secret"
          secret={minted}
          note="The secret is active now. It is not shown again."
        />
      )}
      {rotate.data !== undefined && minted === undefined && (
        <p role="status" className="mb-3.5 text-ink-2">
          Postroad now accepts the new secret.
        </p>
      )}
      <Rotate
        what="secret"
        hours={hours}
        until={until}
        refused={refused}
        rotate={rotate}
        onRotated={() => setSecret('')}
      />
      <Unsaved isUnsaved={secret !== ''} />
    </Part>
  )
}
