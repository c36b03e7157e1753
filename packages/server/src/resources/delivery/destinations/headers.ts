import type { CustomHeaders, ShownHeaders } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import { validateHeader } from '../../../platform/outbound-http.ts'

export type HeldHeaders = Readonly<Record<string, string>>

/** The headers after a change: those that were sent, and for a header without a value the stored value with the same name. */
export function changedHeaders(sent: CustomHeaders, held: HeldHeaders): HeldHeaders {
  const values = new Map(Object.entries(held).map(([name, value]) => [name.toLowerCase(), value]))
  return Object.fromEntries(
    Object.entries(sent).map(([name, value]) => {
      const changed = typeof value === 'string' ? value : values.get(name.toLowerCase())
      if (changed === undefined)
        throw refuse('invalid_request', `headers: the destination has no stored value for ${name}. Send one.`)
      return [name, changed]
    }),
  )
}

/** The names of the headers that retain their stored value; undefined `sent`: all of them. */
export function retainedHeaders(sent: CustomHeaders | undefined, held: HeldHeaders): readonly string[] {
  return Object.entries(sent ?? held).flatMap(([name]) => (typeof sent?.[name] === 'string' ? [] : [name]))
}

/** The part that responses show. */
export function presentHeaders(headers: HeldHeaders): ShownHeaders {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { has_value: true }]))
}

/** Custom headers may carry a password, so they are stored sealed; null when there are none. */
export function sealHeaders(ctx: Ctx, of: { id: string; headers: HeldHeaders }): Buffer | null {
  checkHeaders(of.headers)
  return Object.keys(of.headers).length === 0
    ? null
    : ctx.cipher.seal(JSON.stringify(of.headers), secretPlace('destinations.headers', of.id))
}

export function checkHeaders(headers: HeldHeaders): void {
  for (const [name, value] of Object.entries(headers)) {
    const why = validateHeader(name, value)
    if (why !== undefined) throw refuse('invalid_request', `headers: ${why}`)
  }
}

export function openHeaders(
  ctx: Pick<Ctx, 'cipher'>,
  of: { id: string; headers: Buffer | null },
): Record<string, string> {
  if (of.headers === null) return {}
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by sealHeaders, and opens only as it was sealed
  return JSON.parse(ctx.cipher.open(of.headers, secretPlace('destinations.headers', of.id)).reveal()) as Record<
    string,
    string
  >
}
