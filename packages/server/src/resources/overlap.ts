import type { Ctx } from '../context.ts'

const HOUR_MS = 3_600_000

/** When what a rotation replaces ends; null: at once. Every process holds it against the database's clock. */
export function overlapEnd(ctx: Pick<Ctx, 'clock'>, hours: number): Date | null {
  return hours === 0 ? null : new Date(Math.floor(ctx.clock.now()) + hours * HOUR_MS)
}
