import type { Heavy } from '../../platform/heavy/heavy.ts'
import type { DeliveryBody, ReceivedRequest } from '../../domain/delivery/delivery-body.ts'
import type { Event } from '../../domain/delivery/delivery-request.ts'
import { programInput } from '../../domain/delivery/program-event.ts'
import { contentTypeOf, programRequest } from '../../domain/delivery/program-request.ts'
import { validateHeader } from '../../platform/outbound-http.ts'
import type { Ran } from '../../platform/sandbox/sandbox.ts'
import { createTransformer, type Source } from '../../tasks/run-program.ts'

/** The transform of a destination. */
export type TargetTransform = {
  readonly source: Source & { readonly key: string }
  readonly form: 'envelope' | 'data'
  /** Its code may read the request. */
  readonly usesRequest: boolean
}

type Asked = {
  readonly workspaceId: string
  readonly event: Event
  readonly transform: TargetTransform
  readonly made: DeliveryBody
  readonly received: ReceivedRequest | undefined
}

export type Transformed =
  | (DeliveryBody & { readonly contentType?: string })
  /** The transform returned null. */
  | { readonly skipped: true }
  | { readonly failed: string }

/** Runs the transforms of destinations. It uses only stored data, so every attempt of a version sends the same bytes. */
export function createTransforming({ heavy }: { readonly heavy: Heavy }): (asked: Asked) => Promise<Transformed> {
  const transformer = createTransformer(heavy)
  return async ({ workspaceId, event, transform, made, received }) => {
    const request = transform.usesRequest ? received : undefined
    const input = programInput({ ...event, headers: made.forwarded, request }, transform.form)
    const ran = await transformer.run(transform.source, { workspaceId, input })
    return requestIn(ran, made)
  }
}

function requestIn(ran: Ran, made: DeliveryBody): Transformed {
  if (!ran.ok) {
    const { message, at } = ran.fault
    return { failed: at === null ? message : `${message} (line ${at.line}, column ${at.column})` }
  }
  if (ran.result === null) return { skipped: true }
  const request = programRequest(ran.result)
  if ('error' in request) return { failed: request.error }
  const contentType = contentTypeOf(request)
  const { 'content-type': _type, ...headers } = request.headers
  const wrong = faultIn({ ...headers, ...(contentType === undefined ? {} : { 'content-type': contentType }) })
  if (wrong !== undefined) return { failed: `headers: ${wrong}` }
  const body = { ...made, body: request.body, forwarded: headers, form: null, reason: null }
  return contentType === undefined ? body : { ...body, contentType }
}

function faultIn({ 'content-type': contentType, ...headers }: Readonly<Record<string, string>>): string | undefined {
  // Its name is refused elsewhere, and its value follows the rules of every other one.
  const type = contentType === undefined ? undefined : validateHeader('x-content-type', contentType)
  return (
    type ??
    Object.entries(headers)
      .map(([name, value]) => validateHeader(name, value))
      .find((why) => why !== undefined)
  )
}
