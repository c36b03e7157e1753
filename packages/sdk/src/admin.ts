import type { CallOptions } from './call.ts'
import { SHAPES, type Client } from './contract.ts'
import { requestOf, type Members } from './request.ts'
import type { RouteShape } from './route-shape.ts'
import type { ServiceError } from './service-error.ts'
import { answerTo, newIdempotencyKey, type Connection } from './transport.ts'

type Page = { readonly next_cursor: string | null }

/** A method for every route of the admin API, by room and verb. */
export function adminMethods(connection: Connection): Client {
  const rooms = Object.entries(SHAPES).map(([room, verbs]) => {
    const methods = Object.entries(verbs).map(([verb, shape]) => [verb, methodOf(connection, shape)])
    return [room, Object.fromEntries(methods)]
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- built from the shapes, and Client is the type of the same routes
  return Object.fromEntries(rooms) as Client
}

function methodOf(connection: Connection, shape: RouteShape) {
  const call = (members: Members, options: CallOptions): Promise<unknown> => {
    const { maxRetries = connection.maxRetries } = options
    const ownKey = shape.takesKey && options.idempotencyKey === undefined && maxRetries > 0
    const idempotencyKey = ownKey ? newIdempotencyKey() : options.idempotencyKey
    return answerTo(connection, {
      ...requestOf(shape, { project: connection.project, members }),
      ...options,
      idempotencyKey,
      ownKey,
      credential: connection.token,
      reads: shape.reads,
      // A repeated PUT, PATCH or DELETE leaves the same state. A POST needs a key, unless it only reads.
      canRepeat: shape.onlyReads || shape.method !== 'POST' || idempotencyKey !== undefined,
      whenGone:
        shape.removes === null ? undefined : (notFound) => removed(connection, { shape, members, options, notFound }),
    })
  }
  if (!shape.isList) return async (members: Members = {}, options: CallOptions = {}) => call(members, options)
  return (members: Members = {}, options: CallOptions = {}) =>
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the output of a list has a next_cursor
    paged(async (cursor) => (await call(cursor === undefined ? members : { ...members, cursor }, options)) as Page)
}

type Gone = { shape: RouteShape; members: Members; options: CallOptions; notFound: ServiceError }

/** The response to a deletion that an earlier attempt made. The list of deletions has the one that can be undone. */
async function removed(connection: Connection, { shape, members, options, notFound }: Gone): Promise<unknown> {
  if (shape.removes === 'for_good') return { ok: true }
  const { deletions } = await adminMethods(connection).deletions.list({}, { ...options, idempotencyKey: undefined })
  const deletion = deletions.find(({ resource_id }) => resource_id === members['id'])
  if (deletion === undefined) throw notFound
  return { ok: true, deletion: { id: deletion.id, restorable_until: deletion.restorable_until } }
}

function paged(pageAt: (cursor: string | undefined) => Promise<Page>): Promise<Page> & AsyncIterable<unknown> {
  const first = pageAt(undefined)
  async function* items(): AsyncGenerator {
    for (let page = await first; ;) {
      for (const member of Object.values(page)) if (Array.isArray(member)) yield* member
      if (page.next_cursor === null) return
      // oxlint-disable-next-line no-await-in-loop -- each page needs the cursor of the previous one
      page = await pageAt(page.next_cursor)
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items })
}
