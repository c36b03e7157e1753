import { refuse } from '../../../domain/refusal.ts'
import { createTurns } from '../../../platform/turns.ts'

/** The verification of a long chain uses the database the whole time. So a process runs few, and no workspace fills the queue. */
const AT_ONCE_MAX = 2
const WAITING_MAX = 20
const OF_WORKSPACE_MAX = 4

const busy = () => refuse('overloaded', 'Too many audit logs are being verified. Try again in a moment.')

export function createVerifications(): <T>(workspaceId: string, work: () => Promise<T>) => Promise<T> {
  const inTurn = createTurns({ atOnce: AT_ONCE_MAX, waiting: { max: WAITING_MAX, busy } })
  const asked = new Map<string, number>()
  return async (workspaceId, work) => {
    const others = asked.get(workspaceId) ?? 0
    if (others >= OF_WORKSPACE_MAX) throw busy()
    asked.set(workspaceId, others + 1)
    try {
      return await inTurn(work)
    } finally {
      const left = (asked.get(workspaceId) ?? 1) - 1
      if (left === 0) asked.delete(workspaceId)
      else asked.set(workspaceId, left)
    }
  }
}
