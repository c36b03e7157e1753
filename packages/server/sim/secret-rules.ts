/**
 * The rules for the signatures of requests while secrets are rotated. It records separately the periods in which secrets
 * were valid.
 */
import { createHmac } from 'node:crypto'
import { signDelivery } from '../src/domain/signature/index.ts'
import { Violation } from './violation.ts'

/** The secrets of a lane from one rotation to the next. */
interface Version {
  readonly since: number
  readonly current: string
  /** null: the replaced secret expired immediately. */
  readonly previous: string | null
  readonly until: number
}

/** The clock of a process differs from the database's by at most this much. */
export const ALIGNED_WITHIN_MS = 50

export class SecretRules {
  readonly #versions = new Map<string, Version[]>()
  #proven: boolean

  constructor(signsInEarnest: boolean) {
    this.#proven = !signsInEarnest
  }

  /** A lane got its first secret, or a new one. `until`: how long the previous one also signs; null: no longer. */
  readonly rotated = (
    lane: string,
    { secret, until }: { readonly secret: string; readonly until: number | null },
    now: number,
  ): void => {
    // oxlint-disable-line max-params -- the lane, its secrets, and the time
    const versions = this.#versions.get(lane) ?? []
    this.#versions.set(lane, versions)
    const previous = until === null ? null : (versions.at(-1)?.current ?? null)
    versions.push({ since: now, current: secret, previous, until: until ?? -Infinity })
  }

  /** A request leaves with signatures by these secrets. Its sender must know of every rotation before `knownSince`. */
  sent(
    attempt: { readonly lane: string; readonly attempt_id: string },
    secrets: readonly string[],
    { knownSince, now }: { knownSince: number; now: number },
  ): void {
    // oxlint-disable-line max-params -- the attempt, its secrets, and the times
    const { lane, attempt_id } = attempt
    if (secrets.length === 0) throw new Violation(`${attempt_id} was sent without a signature`)
    const versions = this.#versions.get(lane) ?? []
    for (let index = versions.length - 1; index >= 0; index -= 1) {
      const [version, next] = [versions[index], versions[index + 1]]
      if (version === undefined || (next !== undefined && next.since < knownSince)) break
      if (isSignedAs(version, secrets, now)) return this.#prove(secrets, attempt_id)
    }
    throw new Violation(`${attempt_id} was sent ${describeFault(versions, secrets, now)}`)
  }

  /** Once in such a world the product makes a real signature, and both secrets must verify it in both headers. */
  #prove(secrets: readonly string[], id: string): void {
    if (this.#proven || secrets.length < 2) return
    this.#proven = true
    const body = `{"id":"${id}"}`
    const headers = signDelivery({ secrets, id, body, timestampSeconds: 1_700_000_000, header: 'both' })
    for (const secret of secrets) {
      const ours = createHmac('sha256', secret).update(`1700000000.${body}`).digest('hex')
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
      const standard = createHmac('sha256', key).update(`${id}.1700000000.${body}`).digest('base64')
      const verifies =
        headers['Service-Signature']?.split(',').includes(`v1=${ours}`) === true &&
        headers['webhook-signature']?.split(' ').includes(`v1,${standard}`) === true
      if (!verifies) throw new Violation(`${id} has no signature that its secrets verify`)
    }
  }
}

function isSignedAs(
  { current, previous, until }: Version,
  [first, second, third]: readonly string[],
  now: number,
): boolean {
  if (first !== current || third !== undefined) return false
  if (second === undefined) return previous === null || now >= until - ALIGNED_WITHIN_MS
  return second === previous && now <= until + ALIGNED_WITHIN_MS
}

function describeFault(versions: readonly Version[], [first, second]: readonly string[], now: number): string {
  const known = versions.findLast(({ current }) => current === first)
  if (known === undefined) return "with a secret that was never its destination's"
  if (known !== versions.at(-1))
    return `with a secret that was replaced ${now - (versions[versions.indexOf(known) + 1]?.since ?? now)} ms ago`
  if (second === undefined) return 'without the signature of the previous secret, whose overlap has not ended'
  return second === known.previous
    ? `with the previous secret ${now - known.until} ms after its overlap`
    : 'with a second secret that is not the previous one'
}
