import type { Booted } from '../boot.ts'
import { openDatabase, type Database } from '../platform/db.ts'
import { findOpenTables } from '../platform/row-security.ts'
import { findBrokenChains } from '../resources/workspace/audit/index.ts'
import type { Log } from '../platform/log.ts'
import { countOverdueInstances } from '../resources/automation/workflow-instances/overdue/queries.ts'
import { INVARIANTS } from '../resources/operate/installation/invariants.ts'
import { findStuck } from '../resources/operate/installation/queries.ts'
import { listTasks, type TaskRow } from '../resources/operate/upkeep-tasks/index.ts'
import { listFailingSources } from '../resources/sources/sources/index.ts'
import { countSealed } from '../resources/operate/key-ring/index.ts'
import { checkDurability, checkPolicies } from '../storage.ts'
import { besideTheServer } from './beside-the-server.ts'

type Finding = { readonly check: string; readonly ok: boolean; readonly found: number; readonly meaning: string }
type Examined = { readonly findings: readonly Finding[]; readonly upkeep: readonly TaskRow[] }

/**
 * `doctor [--json]`: checks the invariants of the data in the database. Works beside a running server and changes no data.
 * Returns 0 when all is well, otherwise 1.
 */
export async function doctorCommand(
  environment: Readonly<Record<string, string | undefined>>,
  flags: readonly string[],
): Promise<number> {
  const { findings, upkeep } = await besideTheServer(environment, { makes: false, logLevel: 'silent', work: examine })
  const ok = findings.every((finding) => finding.ok)
  process.stdout.write(
    flags.includes('--json') ? `${JSON.stringify({ ok, findings, upkeep })}\n` : report({ findings, upkeep }),
  )
  return ok ? 0 : 1
}

async function examine({ app, storage, log }: Booted): Promise<Examined> {
  // These statements read whole tables, so they can take longer than the server's own statements.
  const database = openDatabase({
    target: storage.target,
    connectionsMax: 1,
    applicationName: 'postroad doctor',
    statementTimeoutMs: 600_000,
  })
  try {
    const { clock, plans } = app.deps
    const now = clock.now()
    let upkeep: readonly TaskRow[] = []
    const upkeepCheck = async (): Promise<Finding> => {
      upkeep = await listTasks(database)
      return upkeepFinding(upkeep, now)
    }
    const findings = await checked([
      ['postgres is durable', () => durabilityFinding(database, log)],
      ['row-level security', () => policyFindings(database, log)],
      ['secrets are sealed by the newest key', () => secretsFinding(database, storage)],
      ...INVARIANTS.map(({ check, meaning, count }): Check => [
        check,
        async () => {
          const found = await count(database, new Date(now), plans)
          return { check, ok: found === 0, found, meaning }
        },
      ]),
      ['upkeep tasks succeed', upkeepCheck],
      ['due deliveries start', () => stuckFinding(database, now)],
      ['sources can be read', () => sourcesFinding(database)],
      ['due workflow instances run', () => instancesFinding(database, now)],
      ['audit logs are intact', () => auditFinding(database, storage)],
    ])
    return { findings, upkeep }
  } finally {
    await database.close()
  }
}

type Check = readonly [name: string, find: () => Promise<Finding | readonly Finding[]>]

/** One check at a time, because each can read many rows and a server runs beside this command. One that fails ends no other. */
async function checked(checks: readonly Check[]): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const [check, find] of checks) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- one check at a time
      findings.push(...[await find()].flat())
    } catch (cause) {
      const said = cause instanceof Error ? cause.message : String(cause)
      findings.push({ check, ok: false, found: 1, meaning: `The check itself failed: ${said}` })
    }
  }
  return findings
}

async function durabilityFinding(database: Database, log: Log): Promise<Finding> {
  const unsafe = await checkDurability(database, log)
  return {
    check: 'postgres is durable',
    ok: unsafe.length === 0,
    found: unsafe.length,
    meaning: unsafe.join(', ') || 'fsync, full_page_writes and synchronous_commit are on',
  }
}

async function secretsFinding(database: Database, { cipher }: Booted['storage']): Promise<Finding> {
  const { waiting } = await countSealed(database, cipher)
  return {
    check: 'secrets are sealed by the newest key',
    ok: waiting === 0,
    found: waiting,
    meaning: 'Run "rotate-key", and keep the previous key until it ends.',
  }
}

async function auditFinding(db: Database, { cipher }: Booted['storage']): Promise<Finding> {
  const broken = await findBrokenChains({ cipher, db })
  return {
    check: 'audit logs are intact',
    ok: broken.length === 0,
    found: broken.length,
    meaning:
      broken.map(({ workspace, text }) => `${workspace}, ${text}`).join(' ') ||
      'Every row of each audit log follows from the previous row.',
  }
}

/** Upkeep runs every hour. */
const UPKEEP_LATE_MS = 3 * 3_600_000

/** One failed run is a note, because a task may meet a lock or a restart of the database. The next run follows in an hour. */
function upkeepFinding(upkeep: readonly TaskRow[], now: number): Finding {
  const failing = upkeep.filter(({ failures }) => failures > 0)
  const latest = Math.max(...upkeep.map(({ last_run_at }) => last_run_at.getTime()))
  const late = upkeep.length > 0 && now - latest > UPKEEP_LATE_MS
  const notes = [
    ...failing.map(({ name, failures, last_error }) => `${name} has failed ${times(failures)}: ${last_error}`),
    ...(late
      ? [`No process has run upkeep since ${new Date(latest).toISOString()}. Start one with the role "work".`]
      : []),
  ]
  return {
    check: 'upkeep tasks succeed',
    ok: failing.every(({ failures }) => failures === 1),
    found: notes.length,
    meaning: notes.join(' ') || 'No task of upkeep fails.',
  }
}

const times = (failures: number): string => (failures === 1 ? 'once' : `${failures} times in a row`)

/** Longer than a request can last, including its preparation. */
const STUCK_MS = 120_000

async function stuckFinding(database: Database, now: number): Promise<Finding> {
  const at = { dueBefore: new Date(now - STUCK_MS), now: new Date(now) }
  const { deliveries, destinations, oldest_due_at, senders } = await findStuck(database, at)
  const since = oldest_due_at === null ? '' : ` The oldest has been due since ${oldest_due_at.toISOString()}.`
  const advice =
    senders === 0
      ? 'No process with the role "deliver" is running. Start one.'
      : `${senders} ${senders === 1 ? 'process delivers' : 'processes deliver'}. Look for "delivery.turn_failed" and "delivery.lease_failed" in their logs.`
  return {
    check: 'due deliveries start',
    ok: deliveries === 0,
    found: deliveries,
    meaning: `Nothing holds these deliveries back, but none has started in their ${destinations} ${destinations === 1 ? 'destination' : 'destinations'}.${since} ${advice}`,
  }
}

const SOURCES_NAMED_MAX = 20

/** A note and never a fault, because a source fails when the system that it reads is at fault. */
async function sourcesFinding(database: Database): Promise<Finding> {
  const failing = await listFailingSources(database, SOURCES_NAMED_MAX)
  const named = failing.map(
    ({ name, enabled, failing_since }) =>
      `${name} ${enabled ? 'has failed' : 'was turned off; it had failed'} since ${failing_since?.toISOString() ?? ''}`,
  )
  return {
    check: 'sources can be read',
    ok: true,
    found: failing.length,
    meaning:
      failing.length === 0 ? 'No source fails.' : `${named.join('. ')}. The last error of each explains what to do.`,
  }
}

async function instancesFinding(database: Database, now: number): Promise<Finding> {
  const at = { dueBefore: new Date(now - STUCK_MS), max: 100_000 }
  const { overdue, oldest_due_at } = await countOverdueInstances(database, at)
  const since = oldest_due_at === null ? '' : ` The oldest has been due since ${oldest_due_at.toISOString()}.`
  return {
    check: 'due workflow instances run',
    ok: overdue === 0,
    found: overdue,
    meaning: `Nothing holds these workflow instances back, but no process runs them.${since} Start a process with the role "work", or look for "workflows.claim_failed" and "workflows.settle_failed" in the logs.`,
  }
}

/** Checks the second wall between tenants: that every table has its policy, and that the policies bind the server's own user. */
async function policyFindings(database: Database, log: Log): Promise<readonly Finding[]> {
  const why = await checkPolicies(database, log)
  const open = await findOpenTables(database)
  return [
    {
      check: 'row-level security applies to the server',
      ok: why === undefined,
      found: why === undefined ? 0 : 1,
      meaning: why ?? 'Its PostgreSQL user cannot bypass policies.',
    },
    {
      check: 'every tenant table has its policy',
      ok: open.length === 0,
      found: open.length,
      meaning:
        open.length === 0
          ? 'No partition lacks the policy of its table.'
          : `Restart the server, which closes them: ${open.join(', ')}.`,
    },
  ]
}

function report({ findings, upkeep }: Examined): string {
  const lines = findings.map(({ check, ok, found, meaning }) =>
    ok
      ? found === 0
        ? `ok    ${check}`
        : `note  ${check}: ${found} found. ${meaning}`
      : `BAD   ${check}: ${found} found. ${meaning}`,
  )
  return `${[...lines, ...upkeep.map(taskLine)].join('\n')}\n`
}

const NAME_CHARS = 31

function taskLine({ name, last_run_at, duration_ms, failures, last_error }: TaskRow): string {
  const run = `${name.padEnd(NAME_CHARS)} ${last_run_at.toISOString().slice(0, 19)}Z ${duration_ms} ms`
  return failures === 0 ? `task  ${run}` : `task  ${run}, failed ${times(failures)}: ${last_error}`
}
