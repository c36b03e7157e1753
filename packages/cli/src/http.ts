import { environmentProxy, proxyName, type EnvironmentProxy } from '@postroad/contract/environment-proxy'
import type { Dispatcher } from 'undici'
import { EXIT, Failure, ProxyFailed } from './failure.ts'
import { io } from './io.ts'

/** One for each proxy, with its open connections. */
const agents = new Map<string, Dispatcher>()

/** `fetch` through the proxy of the environment. A request that the proxy did not carry fails with a sentence that names it. */
export const http: typeof fetch = async (input, init) => {
  const to = new URL(input instanceof Request ? input.url : input)
  const proxy = proxyFor(to)
  if (proxy === undefined) return fetch(input, init)
  // Node's own `fetch` takes no dispatcher of a library. Commands without a proxy do not load it.
  const { fetch: fetchThrough, ProxyAgent } = await import('undici')
  const dispatcher = agents.get(proxy.url.href) ?? new ProxyAgent(proxy.url.href)
  agents.set(proxy.url.href, dispatcher)
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the library implements the standard, its types are separate
    const send = fetchThrough as unknown as typeof fetch
    const response = await send(input, Object.assign({}, init, { dispatcher }))
    if (response.status !== PROXY_REFUSED) return response
    await response.body?.cancel()
  } catch (cause) {
    if (init?.signal?.aborted === true) throw cause
    throw new ProxyFailed(notReached(to, proxy, cause))
  }
  throw new ProxyFailed(notReached(to, proxy, `(${PROXY_REFUSED})`))
}

/** Proxy Authentication Required: no server answers with it. */
const PROXY_REFUSED = 407

/** The proxy for a URL; undefined: directly. */
export function proxyFor(url: URL): EnvironmentProxy | undefined {
  try {
    return environmentProxy(url, io().env)
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error), EXIT.usage)
  }
}

function notReached({ origin }: URL, proxy: EnvironmentProxy, cause: unknown): string {
  const remedy = String(causeOf(cause)).includes(`(${PROXY_REFUSED})`)
    ? 'The proxy does not accept the username and password. Write them in its URL.'
    : 'Check the proxy, or name the host in NO_PROXY to reach it directly.'
  return `${origin} cannot be reached through the proxy ${proxyName(proxy)}. ${remedy}`
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? causeOf(error.cause) : error
}
