import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../data/ask.ts'
import { Button } from '../ui/button.tsx'
import { TextArea } from '../ui/field.tsx'
import { JsonField } from '../ui/json-field.tsx'
import { RefusedLine } from '../ui/states.tsx'
import { RefusedSamplePart, useRefusedSamples } from './refused-sample.tsx'
import { SignatureSteps } from './signature-steps.tsx'

type Signed = { readonly id: string; readonly refused_samples: boolean }

const SIGNATURE_REASONS: readonly string[] = ['missing_header', 'bad_signature', 'stale_timestamp']

/**
 * Why a signature does not match: the stored sample of the last rejected request, so that nothing has to be pasted, and below it a
 * test of any request. `reason` limits the samples to that cause.
 */
export function SignatureHelp({
  webhook,
  reason,
}: {
  readonly webhook: Signed
  readonly reason?: 'missing_header' | 'bad_signature' | 'stale_timestamp'
}): ReactElement {
  const { data } = useRefusedSamples(webhook.id)
  const [isOpen, setOpen] = useState<boolean | undefined>()
  const latest = reason ?? data?.samples.map((sample) => sample.reason).find((one) => SIGNATURE_REASONS.includes(one))
  const hasSample = data?.samples.some((sample) => sample.reason === latest) === true
  return (
    <>
      {latest !== undefined && <RefusedSamplePart webhook={webhook} reason={latest} />}
      <details
        className="mt-3"
        open={isOpen ?? (data !== undefined && !hasSample)}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary className="flex min-h-8 cursor-default items-center font-control text-ink-2">
          Test another request
        </summary>
        <p className="mb-2 text-ink-3">
          Paste a request exactly as it arrived. The server checks it with the stored secret and reports the step that
          failed. The server never shows the secret or the expected digest.
        </p>
        <SignatureTester webhookId={webhook.id} />
      </details>
    </>
  )
}

/** Reports step by step how an endpoint checks the signature of a pasted request. */
function SignatureTester({ webhookId }: { readonly webhookId: string }): ReactElement {
  const [headers, setHeaders] = useState('')
  const [body, setBody] = useState('')
  const test = useChange([], (client) =>
    client.webhooks.verifySample({ id: webhookId, headers: headersIn(headers), body }),
  )
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    test.mutate(undefined)
  }
  const said = test.data
  return (
    <form onSubmit={submit} aria-label="Signature tester">
      <TextArea
        label="Headers"
        rows={4}
        required
        placeholder={'X-Hub-Signature-256: sha256=…\nContent-Type: application/json'}
        value={headers}
        onChange={({ target }) => setHeaders(target.value)}
        hint="One per line, as they arrived."
      />
      <JsonField
        label="Body"
        rows={6}
        checksJson={false}
        value={body}
        change={setBody}
        hint="The exact bytes that the sender sent. One extra or missing space changes the signature."
      />
      <RefusedLine error={test.error} />
      <Button type="submit" className="mt-1" disabled={test.isPending}>
        Test the signature
      </Button>
      {said !== undefined && (
        <div role="status" className="mt-4">
          <p className="mb-2 text-lead font-control">
            {said.ok
              ? `The signature is valid${said.matched_secret === 'previous' ? ' (previous secret)' : ''}.`
              : `The request is rejected: ${said.reason?.replaceAll('_', ' ') ?? 'the signature does not match'}.`}
          </p>
          <SignatureSteps of={said} />
        </div>
      )}
    </form>
  )
}

function headersIn(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.indexOf(':') > 0)
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).trim(), line.slice(line.indexOf(':') + 1).trim()]),
  )
}
