import type { RouteAnswer, Routes } from '@postroad/contract'
import { curlCommand, type ShellPart } from '@postroad/contract/quoting'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { HeaderList } from '../ui/attempt.tsx'
import { BodyNote } from './body-note.tsx'
import { Button } from '../ui/button.tsx'
import { useCopy } from '../ui/copy.tsx'
import { Loading, Refused } from '../ui/states.tsx'
import { bytes } from '../ui/time.tsx'

type Attempt = RouteAnswer<Routes['deliveries']['get']>['delivery']['attempts'][number]
type Request = NonNullable<Attempt['request']>
type Body = NonNullable<RouteAnswer<Routes['attempts']['get']>['body']>

const DOTS = '••••••••'

/** Failures before there was a connection: the destination cannot have seen the request. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  'connection_refused',
  'dns_failed',
  'tls_failed',
  'blocked_address',
  'invalid_url',
  'proxy_failed',
])

/** The request of an attempt as sent. Opening the body renders it again; the digest proves whether it is the same. */
export function AttemptRequest({ attempt }: { readonly attempt: Attempt }): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const { request, error_code, outcome } = attempt
  if (request === null)
    return (
      <p className="mt-3 text-data text-ink-3">
        {outcome === null
          ? 'Postroad stores the request when the attempt ends.'
          : 'Postroad stored no request for this attempt.'}
      </p>
    )
  return (
    <div role="group" aria-label={`Attempt ${attempt.number} request`} className="mt-3 border-t border-line/55 pt-2">
      <h3 className="font-strong">Request</h3>
      {error_code !== null && NO_CONNECTION.has(error_code) && (
        <p className="text-data text-ink-3">There was no connection, so the destination did not receive the request.</p>
      )}
      <p className="mono my-1 text-data break-all text-ink-2">
        {request.method} {request.url}
      </p>
      <BodyNote of={request} />
      <HeaderList of={request.headers} />
      <details className="mt-2" onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className="flex min-h-6 cursor-default items-center text-data text-ink-2 hover:text-ink">
          Body, {bytes(request.body_bytes)}
        </summary>
        {isOpen && <BodyOf attempt={attempt} request={request} />}
      </details>
    </div>
  )
}

function BodyOf({ attempt: { id }, request }: { readonly attempt: Attempt; readonly request: Request }): ReactElement {
  const asked = useAsk(['attempts', 'get', id], (client, signal) => client.attempts.get({ id }, { signal }))
  const copy = useCopy()
  const body = asked.data?.body
  if (asked.error !== null) return <Refused error={asked.error} again={asked.refetch} />
  if (body === undefined || body === null) return <Loading rows={2} height={28} />
  const { text, base64 } = body
  return (
    <div className="mt-1">
      <p role="status" className={`text-data ${body.as_sent ? 'text-ok-text' : 'text-fail'}`}>
        {bodyText(body)}
      </p>
      {text !== null && (
        <>
          <pre
            tabIndex={0}
            aria-label="Request body"
            className="mono mt-2 max-h-60 overflow-auto rounded-field bg-sunken p-3 text-data break-all whitespace-pre-wrap"
          >
            {text}
          </pre>
          {body.as_sent && (
            <Button className="mt-2" onClick={() => void copy(curlOfRequest(request, text), 'Command copied')}>
              Copy as curl
            </Button>
          )}
        </>
      )}
      {base64 !== null && (
        <>
          <p className="mt-2 text-data text-ink-3">The body is not text, so it is shown in base64.</p>
          <pre
            tabIndex={0}
            aria-label="Request body in base64"
            className="mono mt-2 max-h-60 overflow-auto rounded-field bg-sunken p-3 text-data break-all whitespace-pre-wrap"
          >
            {base64}
          </pre>
        </>
      )}
      <p className="mono mt-2 text-data break-all text-ink-3">SHA-256 {request.body_sha256}</p>
    </div>
  )
}

/** A sentence about whether this is the body that was sent, and if not, why. */
function bodyText({ as_sent, difference, text }: Body): string {
  if (as_sent)
    return text?.includes(DOTS) === true
      ? 'Postroad sent this body. Dots replace the secret.'
      : 'Postroad sent this body.'
  switch (difference) {
    case 'template_failed':
      return 'The template or the transform has changed and no longer renders this event. Postroad cannot show the body that it sent.'
    case 'destination_deleted':
      return 'The destination and its template were deleted. Postroad cannot show the body that it sent.'
    case 'template_changed':
    case null:
      return 'The template or the transform has changed. Postroad sent a different body.'
  }
}

/** Write-only values come from shell variables. */
export function curlOfRequest({ url, headers }: Pick<Request, 'url' | 'headers'>, body: string): string {
  return curlCommand({
    url,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]): [string, string | readonly ShellPart[]] => [
        name,
        value === DOTS ? [{ variable: name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_') }] : value,
      ]),
    ),
    body,
  })
}
