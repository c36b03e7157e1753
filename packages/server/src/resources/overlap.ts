import type { Ctx } from '../context.ts'
import { refuse } from '../domain/refusal.ts'

const HOUR_MS = 3_600_000

/** When the replaced secret or URL ends; null: at once. Every process compares it with the database's clock. */
export function overlapEnd(ctx: Pick<Ctx, 'clock'>, hours: number): Date | null {
  return hours === 0 ? null : new Date(Math.floor(ctx.clock.now()) + hours * HOUR_MS)
}

type Running = {
  /** `secret` or `URL`. */
  readonly what: string
  /** When the previous one ends; null: there is none. */
  readonly until: Date | null
  readonly mayEnd: boolean
}

/** A rotation keeps one previous secret or URL, so it ends the one before. It refuses to do so while that one still works, unless the caller agreed. */
export function checkOverlap(ctx: Pick<Ctx, 'clock'>, { what, until, mayEnd }: Running): void {
  if (mayEnd || until === null || until.getTime() <= ctx.clock.now()) return
  throw refuse(
    'overlap_running',
    `The previous ${what} still works until ${until.toISOString()}, and this would end it now. Wait until then, or send "end_overlap": true.`,
  )
}
