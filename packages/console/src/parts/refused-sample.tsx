import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { HeaderList } from '../ui/attempt.tsx'
import { RefusedLine } from '../ui/states.tsx'
import { bytes, Time } from '../ui/time.tsx'
import { SignatureSteps } from './signature-steps.tsx'

export type RefusedSample = RouteAnswer<Routes['webhooks']['refusedSamples']>['samples'][number]

const EVERY_MS = 10_000

/** The samples of rejected requests of an endpoint, the latest cause first. */
export function useRefusedSamples(webhookId: string, reason?: RefusedSample['reason']) {
  return useAsk(
    ['webhooks', 'refusedSamples', webhookId, reason],
    (client, signal) => client.webhooks.refusedSamples({ id: webhookId, reason }, { signal }),
    { everyMs: EVERY_MS, enabled: webhookId !== '' },
  )
}

/** The stored part of one rejected request, and the steps of its signature check. */
export function RefusedSamplePart({
  webhook: { id, refused_samples },
  reason,
}: {
  readonly webhook: { readonly id: string; readonly refused_samples: boolean }
  readonly reason: RefusedSample['reason']
}): ReactElement | null {
  const { data, error } = useRefusedSamples(id, reason)
  if (error !== null) return <RefusedLine error={error} />
  if (data === undefined) return null
  const [sample] = data.samples
  if (sample === undefined)
    return (
      <p className="text-ink-3">
        {refused_samples
          ? 'There is no sample for this reason from the last 7 days.'
          : 'This endpoint does not store samples. You can turn them on under Access.'}
      </p>
    )
  return <Sample of={sample} />
}

function Sample({
  of: { at, source_ip, method, header_names, signature_forms, headers, body, body_bytes, explanation },
}: {
  readonly of: RefusedSample
}): ReactElement {
  return (
    <div role="group" aria-label="Rejected request sample">
      <p className="mb-2 text-ink-2">
        {method} from {source_ip ?? 'an unknown address'}, <Time at={at} />
        {body_bytes === null ? '' : `, ${bytes(body_bytes)}`}
      </p>
      {explanation !== null && <SignatureSteps of={explanation} />}
      {headers === null ? (
        <>
          <h4 className="mt-3 mb-1 font-control">Headers</h4>
          <HeaderList of={signature_forms} />
          <ul aria-label="Names of other headers" className="mono flex flex-wrap gap-x-3.5 text-data text-ink-2">
            {header_names
              .filter((name) => signature_forms[name] === undefined)
              .map((name) => (
                <li key={name}>{name}</li>
              ))}
          </ul>
          <p className="mt-2 text-data text-ink-3">
            The signature was not verified, so Postroad stores only the header names and the signature format.
          </p>
        </>
      ) : (
        <>
          <h4 className="mt-3 mb-1 font-control">Headers</h4>
          <HeaderList of={headers} />
          <h4 className="mt-3 mb-1 font-control">Body</h4>
          {body === null ? (
            <p className="text-ink-3">Postroad did not read the body, or the body is not text.</p>
          ) : (
            <pre
              tabIndex={0}
              aria-label="Rejected request body"
              className="mono max-h-60 overflow-auto rounded-field bg-sunken p-2.5 text-data break-all whitespace-pre-wrap"
            >
              {body}
            </pre>
          )}
          <p className="mt-2 text-data text-ink-3">
            Credentials are masked. Postroad stores up to 4 KiB of the body for 7 days.
          </p>
        </>
      )}
    </div>
  )
}
