import { idleCost, idleFigures, type IdleCost } from '../idle-cost.ts'
import { adminOf, makeDestination } from '../postroad.ts'
import { multiplyDestination, settle, withDatabase } from '../queries.ts'
import type { Stage } from '../stage.ts'
import type { Figure } from '../table.ts'

const DESTINATIONS = 10_000
const WARM_MS = 3_000
/** Nothing listens on this port, and nothing is sent to it. */
const PORT = 9

/** The cost of a server without work and with ten thousand destinations, beside one with a single destination. */
export async function idle(stage: Stage): Promise<readonly Figure[]> {
  const folder = await stage.folder()
  let server = await stage.server({ folder })
  await makeDestination(await adminOf(server, folder), { name: 'bench', port: PORT, maxInFlight: 10 })
  const measure = async (): Promise<IdleCost> => {
    await server.stop()
    server = await stage.server({ folder })
    return idleCost({ folder, server, warmMs: WARM_MS, ms: stage.seconds * 5_000 })
  }
  const one = await measure()
  await withDatabase(server.target, async (db) => {
    await multiplyDestination(db, { count: DESTINATIONS - 1 })
    await settle(db)
  })
  const many = await measure()
  await server.stop()
  return idleFigures('10,000 destinations', { ours: many, beside: one, name: 'one destination' })
}
