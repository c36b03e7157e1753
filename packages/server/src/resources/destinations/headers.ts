import type { Ctx } from '../../context.ts'
import { refuse } from '../../domain/refusal.ts'
import { secretPlace } from '../../domain/secret-place.ts'
import { whyHeaderRefused } from '../../platform/outbound-http.ts'

/** Custom headers may carry a password, so they are stored sealed; null when there are none. */
export function sealHeaders(ctx: Ctx, of: { id: string; headers: Readonly<Record<string, string>> }): Buffer | null {
  checkHeaders(of.headers)
  return Object.keys(of.headers).length === 0 ? null : ctx.cipher.seal(JSON.stringify(of.headers), secretPlace('destinations.headers', of.id))
}

export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) {
    const why = whyHeaderRefused(name, value)
    if (why !== undefined) throw refuse('invalid_request', `headers: ${why}`)
  }
}

export function openHeaders(ctx: Pick<Ctx, 'cipher'>, of: { id: string; headers: Buffer | null }): Record<string, string> {
  if (of.headers === null) return {}
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by sealHeaders, and opens only as it was sealed
  return JSON.parse(ctx.cipher.open(of.headers, secretPlace('destinations.headers', of.id)).reveal()) as Record<string, string>
}
