import type { Ctx } from '../context.ts'
import { refuse } from '../domain/refusal.ts'

const HOUR_MS = 3_600_000

/** The time when the replaced secret or URL ends; null: now. Every process compares it with the database's clock. */
export function overlapEnd(ctx: Pick<Ctx, 'clock'>, hours: number): Date | null {
  return hours === 0 ? null : new Date(Math.floor(ctx.clock.now()) + hours * HOUR_MS)
}

type Running = {
  /** `secret` or `URL`. */
  readonly what: string
  /** The time at which the previous one ends; null: there is none. */
  readonly until: Date | null
  readonly mayEnd: boolean
}

/** There is only one previous secret or URL, so a rotation ends an older one. While that still works, it needs the agreement of the caller. */
export function checkOverlap(ctx: Pick<Ctx, 'clock'>, { what, until, mayEnd }: Running): void {
  if (mayEnd || until === null || until.getTime() <= ctx.clock.now()) return
  throw refuse(
    'overlap_running',
    `The previous ${what} still works until ${until.toISOString()}, and this rotation would end it now. Wait until then, or send "end_overlap": true.`,
  )
}
