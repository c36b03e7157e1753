import type { Ctx } from './context.ts'

/**
 * One verb, one transaction: joins the open one, else opens one. What is registered with `afterCommit`
 * (wake-ups, caches) runs once, after the commit, and not at all when the transaction rolls back.
 */
export async function inTransaction<T>(ctx: Ctx, work: (tx: Ctx & Required<Pick<Ctx, 'afterCommit'>>) => Promise<T>): Promise<T> {
  const { afterCommit } = ctx
  if (afterCommit !== undefined) return work({ ...ctx, afterCommit })
  const hooks: (() => void)[] = []
  const result = await ctx.database.transaction((db) => work({ ...ctx, db, afterCommit: (hook) => hooks.push(hook) }))
  for (const hook of hooks) hook()
  return result
}
