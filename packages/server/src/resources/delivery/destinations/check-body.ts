import type { DestinationConfig } from '@postroad/contract'
import { isCredentialName } from '../../../domain/capture/credential-name.ts'
import type { BodySettings } from '../../../domain/delivery/delivery-body.ts'
import { batchOf, KINDS, takesRequests } from '../../../domain/delivery/destination-kind.ts'
import { refuse } from '../../../domain/refusal.ts'
import { validateHeader } from '../../../platform/outbound-http.ts'

type Settings = BodySettings & { readonly config: DestinationConfig; readonly payload_template: unknown }

/** Refuses settings of the body that would have no effect, or that no request can have. */
export function checkBody({ config, body, forward_headers, payload_template }: Settings): void {
  if (body === 'as_received' && !takesRequests(config))
    throw refuse(
      'invalid_request',
      `body: as_received is for HTTP destinations, and a destination of the kind ${config.kind} gets messages; send envelope or data.`,
    )
  if (body !== 'envelope' && payload_template !== null)
    throw refuse(
      'invalid_request',
      `body: ${body} and payload_template exclude each other; send null for the template.`,
    )
  if (forward_headers.length === 0) return
  if (body === 'as_received')
    throw refuse('invalid_request', 'forward_headers: as_received sends every header of the request; leave them out.')
  if (!KINDS[config.kind].hasHeaders)
    throw refuse(
      'invalid_request',
      `forward_headers: a destination of the kind ${config.kind} has no headers; leave them out.`,
    )
  for (const name of forward_headers) checkName(name)
}

type Batched = Omit<Settings, 'payload_template'> & { readonly max_in_flight: number }

/** Refuses settings that a request with several events cannot have. */
export function checkBatch({ config, body, forward_headers, max_in_flight }: Batched): void {
  const batch = batchOf(config)
  if (batch === undefined) return
  if (body === 'as_received')
    throw refuse('invalid_request', 'config.batch: as_received sends one request as it came; send another body.')
  if (forward_headers.length > 0)
    throw refuse(
      'invalid_request',
      'config.batch: a request with several events has no headers of one; leave forward_headers out.',
    )
  if (batch.max > max_in_flight)
    throw refuse(
      'invalid_request',
      `config.batch.max is ${batch.max}, and at most max_in_flight events (${max_in_flight}) are sent at a time; raise max_in_flight or lower max.`,
    )
}

function checkName(name: string): void {
  const why = validateHeader(name, '')
  if (why !== undefined) throw refuse('invalid_request', `forward_headers: ${why}`)
  if (isCredentialName(name.toLowerCase()))
    throw refuse(
      'invalid_request',
      `forward_headers: Postroad does not store the value of ${name}, because it is a credential; leave it out.`,
    )
}

/** The columns of a destination. The default is null, as in rows from before these settings. */
export const bodyColumns = ({ body, forward_headers }: BodySettings) => ({
  body: body === 'envelope' ? null : body,
  forward_headers: forward_headers.length === 0 ? null : forward_headers,
})
