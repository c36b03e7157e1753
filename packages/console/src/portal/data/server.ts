import type { PortalOutput, PortalRoutes } from '@postroad/contract'
import { refusalIn, serviceError } from '@postroad/sdk/service-error'

type Out<Verb extends keyof PortalRoutes> = PortalOutput<PortalRoutes[Verb]>

export type Me = Out<'me'>
export type BrandingAnswer = Out<'branding'>
export type Branding = Me['portal']['branding']
export type Destination = Out<'getDestination'>['destination']
export type Delivery = Out<'listDeliveries'>['deliveries'][number]
export type Attempt = Out<'listAttempts'>['attempts'][number]
export type Status = Delivery['status']
export type DestinationBody = {
  readonly url: string
  readonly description: string | null
  readonly event_types: string[] | null
}
export type DeliveryFilter = {
  readonly status?: Status | undefined
  readonly destination_id?: string | undefined
  readonly cursor?: string | undefined
  readonly limit?: number
}

/** The portal API (contract part 4), one function for each use that the page makes of it. The live preview has another one, which answers with samples. */
export type Server = {
  readonly branding: (signal?: AbortSignal) => Promise<BrandingAnswer>
  /** Trades the token for the cookie. A browser that refuses the cookie sends the token with each request, until the page is closed. */
  readonly enter: (token: string) => Promise<Me>
  readonly leave: () => Promise<unknown>
  readonly me: (signal?: AbortSignal) => Promise<Me>
  readonly eventTypes: (signal?: AbortSignal) => Promise<Out<'eventTypes'>>
  readonly destinations: (signal?: AbortSignal) => Promise<Out<'listDestinations'>>
  readonly createDestination: (body: DestinationBody) => Promise<Out<'createDestination'>>
  readonly updateDestination: (
    id: string,
    body: Partial<DestinationBody> & { readonly enabled?: boolean },
  ) => Promise<Out<'updateDestination'>>
  readonly removeDestination: (id: string) => Promise<unknown>
  readonly testDestination: (id: string) => Promise<Out<'testDestination'>>
  readonly rotateSecret: (
    id: string,
    body: { readonly overlap_hours: number; readonly end_overlap: boolean },
  ) => Promise<Out<'rotateSecret'>>
  readonly deliveries: (filter: DeliveryFilter, signal?: AbortSignal) => Promise<Out<'listDeliveries'>>
  readonly delivery: (id: string, signal?: AbortSignal) => Promise<Out<'getDelivery'>>
  readonly attempt: (id: string, signal?: AbortSignal) => Promise<Out<'getAttempt'>>
  readonly retry: (id: string) => Promise<Out<'retryDelivery'>>
}

type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body?: object
  readonly token?: string
  readonly signal?: AbortSignal | undefined
}

/** The server of the page, for the portal that the address names. */
export function overNetwork(portalId: string): Server {
  // The customer that the page shows. The server refuses a session of another one, which another tab may have opened since.
  let customer: string | undefined
  let bearer: string | undefined
  const ask = async <T>({ method, path, body, token = bearer, signal }: Request): Promise<T> => {
    const response = await fetch(`/portal/api/${path}`, {
      method,
      credentials: 'same-origin',
      ...(signal === undefined ? {} : { signal }),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(method === 'GET' ? {} : { 'X-Requested-With': 'fetch' }),
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
        ...(customer === undefined ? {} : { 'Service-Customer': customer }),
      },
    }).catch((error: unknown) => {
      if (signal?.aborted === true) throw error
      throw serviceError(UNREACHED, { status: 0, reason: undefined }, { cause: error })
    })
    if (!response.ok) throw await refusalIn(response)
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract describes the answer of this path
    return (await response.json()) as T
  }
  const get = <T>(path: string, signal?: AbortSignal): Promise<T> => ask({ method: 'GET', path, signal })
  const send = <T>(method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<T> =>
    ask({ method, path, ...(body === undefined ? {} : { body }) })
  const me = async (signal?: AbortSignal): Promise<Me> => {
    const answer = await get<Me>('me', signal)
    if (answer.portal.id !== portalId) throw anotherPortal()
    customer = answer.customer.id
    return answer
  }
  return {
    branding: (signal) => get(`portals/${portalId}/branding`, signal),
    enter: async (token) => {
      const before = { customer, bearer }
      customer = undefined
      bearer = undefined
      try {
        await ask({ method: 'POST', path: 'session', token })
        return await me().catch((error: unknown) => {
          if (!isWithoutSession(error)) throw error
          bearer = token
          return me()
        })
      } catch (error) {
        // The page still shows the previous customer, whose requests must not use another session.
        ;({ customer, bearer } = before)
        throw error
      }
    },
    leave: () => send('DELETE', 'session'),
    me,
    eventTypes: (signal) => get('event-types', signal),
    destinations: (signal) => get('destinations', signal),
    createDestination: (body) => send('POST', 'destinations', body),
    updateDestination: (id, body) => send('PUT', `destinations/${id}`, body),
    removeDestination: (id) => send('DELETE', `destinations/${id}`),
    testDestination: (id) => send('POST', `destinations/${id}/test`),
    rotateSecret: (id, body) => send('POST', `destinations/${id}/rotate-secret`, body),
    deliveries: (filter, signal) => get(`deliveries?${queryOf(filter)}`, signal),
    delivery: (id, signal) => get(`deliveries/${id}`, signal),
    attempt: (id, signal) => get(`attempts/${id}`, signal),
    retry: (id) => send('POST', `deliveries/${id}/retry`),
  }
}

const UNREACHED = 'The server cannot be reached. Check your connection. The page retries automatically.'

function queryOf(filter: DeliveryFilter): string {
  const members = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  return new URLSearchParams(members).toString()
}

function isWithoutSession(error: unknown): boolean {
  return error instanceof Error && 'status' in error && error.status === 401
}

/** The cookie is one for all portals of this server. */
function anotherPortal(): Error {
  return serviceError('This browser has opened another portal since then.', { status: 401 })
}
