import { SECRET } from '../payload.ts'
import { adminOf, makeEndpoint } from '../postroad.ts'
import { postgresSeconds } from '../processes.ts'
import { askForTenant, liftPolicies, withDatabase } from '../queries.ts'
import { bindToPolicies } from '../../src/platform/row-security.ts'
import { median, nowMs } from '../statistics.ts'
import { inTurns, type Stage } from '../stage.ts'
import type { LoadVerbs } from '../load.ts'
import type { Figure } from '../table.ts'

const CONNECTIONS = 64
const LISTS_AT_ONCE = 4
const STATEMENTS = 2_000

const beside = (value: number, name = 'without policies') => ({ name, value })

type Taken = { readonly events: number[]; readonly eventUs: number[]; readonly lists: number[] }

/** The cost of row-level security: the same server on a database with its policies, and on one without them. */
export async function policies(stage: Stage): Promise<readonly Figure[]> {
  const load = stage.child<LoadVerbs>('load.ts')
  const ms = stage.seconds * 1_000
  const open = async (isLifted: boolean) => {
    const folder = await stage.folder()
    const server = await stage.server({ folder, settings: { ADMIN_REQUESTS_MAX: '0' } })
    // The command that makes the key creates missing policies, so they are removed after it.
    const admin = await adminOf(server, folder)
    if (isLifted) await withDatabase(server.target, liftPolicies)
    const target = { port: server.port, path: await makeEndpoint(admin, 'policies', SECRET), secret: SECRET }
    const taken: Taken = { events: [], eventUs: [], lists: [] }
    const ingest = async (runMs: number) => {
      const before = await postgresSeconds(folder)
      const { answered, perSecond } = await load.ask('closed', {
        ...target,
        connections: CONNECTIONS,
        until: { ms: runMs },
      })
      return { perSecond, us: (((await postgresSeconds(folder)) - before) * 1e6) / answered }
    }
    const list = async (runMs: number): Promise<number> => {
      const until = nowMs() + runMs
      const began = nowMs()
      let answered = 0
      await Promise.all(
        Array.from({ length: LISTS_AT_ONCE }, async () => {
          // oxlint-disable-next-line no-await-in-loop -- each client repeats its request after the answer
          for (; nowMs() < until; answered += 1) await admin('GET', 'records?limit=20')
        }),
      )
      return (answered * 1_000) / (nowMs() - began)
    }
    await ingest(Math.min(2_000, ms))
    await list(Math.min(1_000, ms))
    const round = async (): Promise<void> => {
      const { perSecond, us } = await ingest(ms)
      taken.events.push(perSecond)
      taken.eventUs.push(us)
      taken.lists.push(await list(ms))
    }
    return { server, taken, round }
  }
  const [on, off] = [await open(false), await open(true)]
  await inTurns(stage.rounds, { on: on.round, off: off.round })
  const login = on.server.target
  const server = await bindToPolicies(login, (cause) => {
    throw cause
  })
  const statements: Record<'tenant' | 'operator', number[]> = { tenant: [], operator: [] }
  await inTurns(stage.rounds, {
    tenant: () =>
      withDatabase(
        server,
        async (db) => void statements.tenant.push(await askForTenant(db, { isBound: true, count: STATEMENTS })),
      ),
    operator: () =>
      withDatabase(
        login,
        async (db) => void statements.operator.push(await askForTenant(db, { isBound: false, count: STATEMENTS })),
      ),
  })
  await load.stop()
  await Promise.all([on.server.stop(), off.server.stop()])
  return [
    {
      what: 'Durable ingest with row-level security',
      unit: '/s',
      ours: median(on.taken.events),
      beside: beside(median(off.taken.events)),
      aim: { leastRatio: 0.95 },
    },
    {
      what: 'an event, PostgreSQL',
      unit: 'µs',
      ours: median(on.taken.eventUs),
      beside: beside(median(off.taken.eventUs)),
    },
    {
      what: 'A list of the admin API with row-level security',
      unit: '/s',
      ours: median(on.taken.lists),
      beside: beside(median(off.taken.lists)),
    },
    {
      what: "One look at a tenant's row, setting and policy",
      unit: 'µs',
      ours: median(statements.tenant),
      beside: beside(median(statements.operator), 'by a superuser, for nobody'),
    },
  ]
}
