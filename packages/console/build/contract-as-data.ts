import * as contract from '@postroad/contract'
import type { Plugin } from 'vite'

const ID = '\0contract-as-data'

/**
 * The browser gets the contract as plain data: the arguments of each route, lists of words, limits. Schemas stay on the
 * server, which checks every request anyway; with them the first load would be half as large again.
 */
export function contractAsData(): Plugin {
  return {
    name: 'contract-as-data',
    enforce: 'pre',
    resolveId: (id) => (id === '@postroad/contract' ? ID : undefined),
    load: (id) => (id === ID ? source() : undefined),
  }
}

function source(): string {
  const plain = Object.entries(contract).filter(([name, value]) => name !== 'routes' && isPlain(value))
  return [['routes', routesAsData()], ...plain]
    .map(([name, value]) => `export const ${String(name)} = ${JSON.stringify(value)}`)
    .join('\n')
}

/** The parts of a route that the client reads: its address, the places of its members, and its callers. */
function routesAsData(): unknown {
  const rooms = Object.entries(contract.routes).map(([room, verbs]) => {
    const routes = Object.entries<contract.Route>(verbs).map(([verb, { params, query, body, output, ...route }]) => {
      const { method, area, path, role, download, whileSuspended, ownersWhileSuspended, whileClosed } = route
      const { operator, callers } = route
      const shape = 'shape' in output && typeof output.shape === 'object' && output.shape !== null ? output.shape : {}
      return [
        verb,
        {
          method,
          area,
          path,
          role,
          download,
          whileSuspended,
          ownersWhileSuspended,
          whileClosed,
          operator,
          callers: callers === 'people' ? callers : undefined,
          refusesIdempotencyKey: route.refusesIdempotencyKey,
          params: names(params),
          query: names(query),
          body: names(body),
          output: outputOf(method, shape),
        },
      ]
    })
    return [room, Object.fromEntries(routes)]
  })
  return Object.fromEntries(rooms)
}

/** The client reads whether a response is a page of a list, and the members of the response to a deletion. */
function outputOf(method: contract.Route['method'], shape: object): unknown {
  if ('next_cursor' in shape) return { shape: { next_cursor: 0 } }
  return method === 'DELETE' ? names({ shape }) : {}
}

function names(fields: { readonly shape: object } | undefined): unknown {
  return fields === undefined
    ? undefined
    : { shape: Object.fromEntries(Object.keys(fields.shape).map((name) => [name, 0])) }
}

function isPlain(value: unknown): boolean {
  if (value === null) return true
  if (Array.isArray(value)) return value.every(isPlain)
  if (typeof value !== 'object') return ['string', 'number', 'boolean'].includes(typeof value)
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain)
}
