/** Resolves names without libuv's thread pool, because one hanging name server must not block the file system. */
import { Resolver as CaresResolver } from 'node:dns/promises'
import { readFileSync, statSync } from 'node:fs'
import { isIP } from 'node:net'

/** `local` answers come from this machine (localhost, the hosts file), `dns` answers from the owner of the name. */
export type Resolution =
  | { readonly kind: 'addresses'; readonly source: 'local' | 'dns'; readonly addresses: readonly string[] }
  | { readonly kind: 'failure'; readonly detail: string }

export type Resolver = {
  /** Every address of the name, IPv4 first. Never rejects; takes at most the timeout. */
  readonly resolve: (hostname: string) => Promise<Resolution>
  /** Cancels all queries under way. */
  readonly close: () => void
}

export type ResolverOptions = {
  /** Name servers as `address` or `address:port`. Defaults to the system's. */
  readonly servers?: readonly string[]
  readonly timeoutMs?: number
  readonly ttlSecondsMin?: number
  readonly ttlSecondsMax?: number
  readonly failureTtlSeconds?: number
  readonly entriesMax?: number
  readonly hostsFile?: string
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number
}

type Entry = { readonly resolution: Promise<Resolution>; expiresAt: number }
type Answers = { readonly addresses: { readonly address: string; readonly ttl: number }[]; readonly errors: string[] }

const HOSTS_CHECK_MS = 1_000
const LOCALHOST: Resolution = { kind: 'addresses', source: 'local', addresses: ['127.0.0.1', '::1'] }

/**
 * Builds a resolver on c-ares with its own deadline (3 s) and a bounded cache: answers live for their TTL within 5 to 300 s,
 * failures for 5 s, so a hanging name is queried at most once in that time. Search domains are not used.
 */
export function createResolver(options: ResolverOptions = {}): Resolver {
  const { ttlSecondsMin = 5, ttlSecondsMax = 300, failureTtlSeconds = 5, entriesMax = 10_000 } = options
  const { timeoutMs = 3_000, now = () => performance.now() } = options
  const cares = new CaresResolver({ timeout: Math.ceil(timeoutMs / 3), tries: 2 })
  if (options.servers !== undefined) cares.setServers(options.servers)
  const hosts = createHosts(options.hostsFile ?? '/etc/hosts', now)
  const cache = new Map<string, Entry>()

  function cacheMs({ addresses }: Answers): number {
    if (addresses.length === 0) return failureTtlSeconds * 1_000
    const ttlSeconds = Math.min(...addresses.map(({ ttl }) => ttl), ttlSecondsMax)
    return Math.max(ttlSeconds, ttlSecondsMin) * 1_000
  }

  /** An entry is cached while its query is under way, so that a thousand callers share one query. */
  function lookUp(name: string): Promise<Resolution> {
    const cached = cache.get(name)
    if (cached !== undefined && cached.expiresAt > now()) return cached.resolution
    const answers = ask(cares, name, timeoutMs)
    const entry: Entry = { resolution: answers.then(resolutionOf), expiresAt: Infinity }
    void answers.then((arrived) => (entry.expiresAt = now() + cacheMs(arrived)))
    cache.delete(name)
    cache.set(name, entry)
    const [oldest] = cache.keys()
    if (cache.size > entriesMax && oldest !== undefined) cache.delete(oldest)
    return entry.resolution
  }

  return {
    async resolve(hostname) {
      const name = hostname.toLowerCase().replace(/\.$/, '')
      if (name === 'localhost' || name.endsWith('.localhost')) return LOCALHOST
      const local = hosts(name)
      return local === undefined ? lookUp(name) : { kind: 'addresses', source: 'local', addresses: local }
    },
    close: () => cares.cancel(),
  }
}

/** Queries both families at the same time. At the deadline, the answers that have arrived count. */
async function ask(cares: CaresResolver, name: string, timeoutMs: number): Promise<Answers> {
  const v4: Answers['addresses'] = []
  const v6: Answers['addresses'] = []
  const errors: string[] = []
  const recorded = (error: unknown): void => void errors.push(codeOf(error))
  const both = Promise.all([
    cares.resolve4(name, { ttl: true }).then((found) => v4.push(...found), recorded),
    cares.resolve6(name, { ttl: true }).then((found) => v6.push(...found), recorded),
  ])
  const { promise: late, resolve: giveUp } = Promise.withResolvers<void>()
  const timer = setTimeout(giveUp, timeoutMs)
  await Promise.race([both, late])
  clearTimeout(timer)
  return { addresses: [...v4, ...v6], errors: [...errors] }
}

function resolutionOf({ addresses, errors }: Answers): Resolution {
  if (addresses.length > 0) {
    return { kind: 'addresses', source: 'dns', addresses: addresses.map(({ address }) => address) }
  }
  const trouble = errors.find((code) => code !== 'ENOTFOUND' && code !== 'ENODATA')
  if (trouble === 'ETIMEOUT' || errors.length < 2) {
    return { kind: 'failure', detail: 'The name servers did not respond in time.' }
  }
  if (trouble !== undefined) return { kind: 'failure', detail: `The name servers failed to answer (${trouble}).` }
  return { kind: 'failure', detail: 'The host name has no address.' }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'EUNKNOWN'
}

/** Reads the hosts file when its modification time has changed; checks that at most once a second. */
function createHosts(file: string, now: () => number): (name: string) => readonly string[] | undefined {
  let checkedAt = -Infinity
  let modifiedAt: number | undefined
  let entries: ReadonlyMap<string, readonly string[]> = new Map()

  function refresh(): void {
    const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (modified !== modifiedAt) entries = modified === undefined ? new Map() : parseHosts(readFileSync(file, 'utf8'))
    modifiedAt = modified
  }

  return (name) => {
    if (now() - checkedAt >= HOSTS_CHECK_MS) {
      checkedAt = now()
      try {
        refresh()
      } catch {
        // The file is unreadable, or was replaced between the check and the read: the known entries stay until the next check.
      }
    }
    return entries.get(name)
  }
}

function parseHosts(text: string): ReadonlyMap<string, readonly string[]> {
  const entries = new Map<string, string[]>()
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    if (isIP(address) === 0) continue
    for (const name of names) entries.set(name.toLowerCase(), [...(entries.get(name.toLowerCase()) ?? []), address])
  }
  return entries
}
